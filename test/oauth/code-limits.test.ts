import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'
import { deleteExpiredCodes } from '../../server/oauth/login/email-code.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { id } from '../support/tenant.ts'
import { anyAddress, anyEmail, MINUTE_MS, startCodeWorld } from './code-world.ts'
import { createMember } from './members.ts'

let world: Awaited<ReturnType<typeof startCodeWorld>>
let own: Awaited<ReturnType<typeof world.arrive>>
beforeAll(async () => {
  world = await startCodeWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  own = await world.arrive()
})

describe('an address without a member', () => {
  it('gets the same responses and the same row, but no mail', async () => {
    const { db, mailServer } = world
    const { node, interaction, sent } = own
    const strangers = [anyEmail(), anyEmail(), anyEmail()]
    await createMember(db, { email: strangers[1]!, member: false })
    await createMember(db, { email: strangers[2]!, leftAt: new Date(Date.now() - MINUTE_MS) })
    const ownOnes = strangers.map(() => id('interaction'))
    for (const [n, stranger] of strangers.entries()) expect(await node.send(ownOnes[n]!, stranger)).toBe('sent')
    const code = await sent()
    const known = await world.rowOf(interaction)
    for (const [n, stranger] of strangers.entries()) {
      expect(await world.rowOf(ownOnes[n]!)).toEqual({
        interaction: ownOnes[n],
        email: stranger,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        tries: known!.tries,
        sentAt: expect.any(Date),
        expiresAt: expect.any(Date),
      })
      for (let tries = 1; tries <= 5; tries++) expect(await node.codes.check(ownOnes[n]!, code)).toBe('codeWrong')
      expect(await node.codes.check(ownOnes[n]!, code)).toBe('codeExpired')
      // Refused after the same number of mails.
      for (let n = 2; n <= 5; n++) expect(await node.send(id('interaction'), stranger)).toBe('sent')
      expect(await node.send(id('interaction'), stranger)).toBe('tooOften')
    }
    await sent()
    expect(strangers.flatMap((stranger) => mailServer.mailsTo(stranger))).toEqual([])
  })

  it('signs nobody in, even with the right code', async () => {
    const { db } = world
    const { node, interaction } = own
    const stranger = anyEmail()
    await node.send(interaction, stranger)
    const hash = createHash('sha256').update(`${interaction}:12345678`).digest('hex')
    await db.loginCode.update({ where: { interaction }, data: { hash } })
    expect(await node.codes.check(interaction, '12345678')).toBe('codeExpired')
  })

  it('is looked up after the response', async () => {
    const { email, interaction } = own
    const url = await migratedDatabase()
    const database = openDatabase(url, () => {})
    onTestFinished(() => database.$disconnect())
    await createMember(database, { email })
    await query(url, 'ALTER TABLE "Person" RENAME TO "Persons away"')
    const alone = world.startNode({ database })
    expect(await alone.send(interaction, email)).toBe('sent')
    expect(await alone.send(id('interaction'), anyEmail())).toBe('sent')
    await expect.poll(() => alone.errors).toHaveLength(2)
  })
})

describe('the limit', () => {
  it('allows five mails an hour to an address, over all nodes and interactions', async () => {
    const { db, mailServer } = world
    const { node, email, sent } = own
    const nodes = [node, world.startNode()]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => nodes[n % 2]!.send(id('interaction'), n % 3 ? email : email.toUpperCase())),
    )
    expect(answers.filter((answer) => answer === 'sent')).toHaveLength(5)
    expect(answers.filter((answer) => answer === 'tooOften')).toHaveLength(15)
    expect(await db.loginCode.count({ where: { email } })).toBe(5)
    await mailServer.codesTo(email, 5)
    node.offsetMs = 61 * MINUTE_MS
    await sent()
    expect(mailServer.mailsTo(email)).toHaveLength(6)
  })

  it('counts repeated requests of one interaction, and used codes', async () => {
    const { mailServer } = world
    const { node, email, member, interaction, sent } = own
    const code = await sent()
    expect(await node.codes.check(interaction, code)).toMatchObject({ persons: [{ id: member }] })
    for (let n = 2; n <= 5; n++) expect(await node.send(interaction, email)).toBe('sent')
    const row = await world.rowOf(interaction)
    expect(await node.send(interaction, email)).toBe('tooOften')
    expect(await world.rowOf(interaction)).toEqual(row)
    expect(new Set(await mailServer.codesTo(email, 5)).size).toBe(5)
    expect(await node.codes.check(interaction, code)).toBe('codeWrong')
  })

  it('counts each address when one interaction requests several at once', async () => {
    const { db } = world
    const { node, email, interaction } = own
    const others = Array.from({ length: 10 }, anyEmail)
    const answers = await Promise.all(
      others.flatMap((other) => [node.send(interaction, email), node.send(interaction, other)]),
    )
    expect(answers.filter((answer) => answer === 'tooOften')).toHaveLength(5)
    expect(await db.loginCode.count({ where: { email } })).toBe(5)
    expect(await db.loginCode.count({ where: { email: { in: others } } })).toBe(10)
    expect(await db.loginCode.count({ where: { interaction } })).toBe(1)
  })

  it('allows twenty mails an hour by a sender', async () => {
    const { node, email, interaction } = own
    const address = anyAddress()
    for (let n = 0; n < 20; n++) expect(await node.send(id('interaction'), anyEmail(), 'en', address)).toBe('sent')
    expect(await node.send(interaction, email, 'en', address)).toBe('tooOften')
    expect(await node.send(interaction, email, 'en', `::ffff:${address}`)).toBe('tooOften')
    expect(await world.rowOf(interaction)).toBeNull()
    expect(await node.send(interaction, email, 'en', anyAddress())).toBe('sent')
  })

  it('counts an IPv6 /64 as one sender', async () => {
    const { node, email, interaction } = own
    for (let n = 0; n < 20; n++) {
      const address = n % 2 ? `2001:db8:1:2::${n}` : `2001:0db8:1:2:3:4:5:${n.toString(16)}`
      expect(await node.send(id('interaction'), anyEmail(), 'en', address)).toBe('sent')
    }
    expect(await node.send(interaction, email, 'en', '2001:db8:1:2:ffff::1')).toBe('tooOften')
    for (const other of ['2001:db8:1:3::1', '2001:db8::1', '::1', 'fe80::1%eth0'])
      expect(await node.send(id('interaction'), email, 'en', other)).toBe('sent')
  })

  it('ends with the deletion of the codes after an hour', async () => {
    // A database of its own: the deletion takes the codes of every test.
    const db = openDatabase(await migratedDatabase(), () => {})
    onTestFinished(() => db.$disconnect())
    const email = anyEmail()
    await createMember(db, { email })
    const node = world.startNode({ database: db })
    for (let n = 0; n < 2; n++) expect(await node.send(id('interaction'), email)).toBe('sent')
    const now = Date.now()
    await deleteExpiredCodes(db, now + 59 * MINUTE_MS)
    expect(await db.loginCode.count({ where: { email } })).toBe(2)
    expect(await deleteExpiredCodes(db, now + 61 * MINUTE_MS)).toBe(2)
    expect(await db.loginCode.count({ where: { email } })).toBe(0)
  })
})
