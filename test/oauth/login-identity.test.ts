import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { personsOf, saveIdentity } from '../../server/browser/login/upstream-identity.ts'
import { id } from '../support/tenant.ts'
import { sharedDatabase } from '../support/world.ts'
import { createMember } from './members.ts'

const issuer = 'https://id.example.org'

let db: Database
let email: string
let member: string
let subject: string
beforeAll(() => {
  db = sharedDatabase()
})
beforeEach(async () => {
  email = `${id('mia')}@example.org`
  member = await createMember(db, { email })
  subject = id('subject')
})

const ids = (persons: { id: string }[]) => persons.map((person) => person.id)
const candidates = (account: Parameters<typeof personsOf>[1]) => personsOf(db, account, Date.now())
const leave = (person: string) =>
  db.membership.updateMany({ where: { personId: person }, data: { leftAt: new Date(Date.now() - 1) } })

describe('an upstream account', () => {
  it('is matched by its verified address, in any case', async () => {
    const twin = await createMember(db, { email: email.toUpperCase(), firstName: 'Zoe' })
    const found = [
      { id: member, name: 'Mia Member' },
      { id: twin, name: 'Zoe Member' },
    ]
    expect(await candidates({ issuer, subject, email })).toEqual(found)
    expect(await candidates({ issuer, subject, email: email.toUpperCase() })).toEqual(found)
  })

  it('matches nobody without one', async () => {
    for (const other of [
      null,
      '',
      'nobody@example.org',
      '%',
      email.replace('mia', '%'),
      email.replace('m', '_'),
      `${email}\0`,
    ])
      expect(await candidates({ issuer, subject, email: other })).toEqual([])
  })

  it('matches nobody without a current membership', async () => {
    await createMember(db, { email, member: false })
    await createMember(db, { email, leftAt: new Date(Date.now() - 60_000) })
    expect(ids(await candidates({ issuer, subject, email }))).toEqual([member])
    await saveIdentity(db, { issuer, subject }, member)
    await leave(member)
    expect(await candidates({ issuer, subject, email })).toEqual([])
  })

  it('stays linked when the address changes', async () => {
    await saveIdentity(db, { issuer, subject }, member)
    const other = await createMember(db, { email: `${id('other')}@example.org` })
    const { email: otherEmail } = await db.person.findUniqueOrThrow({ where: { id: other } })
    for (const now of [otherEmail, null, email])
      expect(ids(await candidates({ issuer, subject, email: now }))).toEqual([member])
    await leave(member)
    expect(await candidates({ issuer, subject, email: otherEmail })).toEqual([])
  })

  it('is linked by provider and subject', async () => {
    await saveIdentity(db, { issuer, subject }, member)
    expect(await candidates({ issuer: 'https://other.example.org', subject, email: null })).toEqual([])
    expect(await candidates({ issuer, subject: subject.toUpperCase(), email: null })).toEqual([])
  })

  it('keeps its first link, also with concurrent ones', async () => {
    const other = await createMember(db, { email })
    await saveIdentity(db, { issuer, subject }, member)
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => saveIdentity(db, { issuer, subject }, n % 2 ? other : member)),
    )
    expect(ids(await candidates({ issuer, subject, email }))).toEqual([member])
    expect(await db.loginIdentity.count({ where: { issuer, subject } })).toBe(1)
  })

  it('loses its link when the person is deleted', async () => {
    await saveIdentity(db, { issuer, subject }, member)
    await db.person.delete({ where: { id: member } })
    expect(await db.loginIdentity.count({ where: { issuer, subject } })).toBe(0)
    await expect(saveIdentity(db, { issuer, subject }, member)).rejects.toThrow()
  })
})
