import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deleteExpiredCodes } from '../../server/browser/login/login-codes.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { anyAddress, anyEmail, codeWorld, MINUTE_MS } from './code-world.ts'
import { createMember } from './members.ts'

const { world, own } = codeWorld()

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
    const known = await world.readRow(interaction)
    for (const [n, stranger] of strangers.entries()) {
      expect(await world.readRow(ownOnes[n]!)).toEqual({
        interaction: ownOnes[n],
        email: stranger,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        sender: expect.stringMatching(/^10[.]/),
        mailed: false,
        tries: known!.tries,
        sentAt: expect.any(Date),
        expiresAt: expect.any(Date),
      })
      for (let tries = 1; tries <= 5; tries++) expect(await node.codes.check(ownOnes[n]!, code)).toBe('codeWrong')
      expect(await node.codes.check(ownOnes[n]!, code)).toBe('codeExpired')
      // Refused after the same number of mails.
      for (let n = 2; n <= 15; n++) expect(await node.send(id('interaction'), stranger)).toBe('sent')
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
    expect(await node.codes.check(interaction, '12345678')).toBe('codeWrong')
    await db.loginCode.update({ where: { interaction }, data: { mailed: true } })
    expect(await node.codes.check(interaction, '12345678')).toBe('codeExpired')
  })

  it('is looked up after the response', async () => {
    const { email, interaction } = own
    const url = await migratedDatabase()
    const database = openTestDatabase(url)
    onTestFinished(() => database.$disconnect())
    await createMember(database, { email })
    await query(url, 'ALTER TABLE "Person" RENAME TO "Persons away"')
    const alone = world.startNode({ database })
    expect(await alone.send(interaction, email)).toBe('sent')
    expect(await alone.send(id('interaction'), anyEmail())).toBe('sent')
    await expect.poll(() => alone.errors).toHaveLength(2)
  })
})

/** A mail to another address that is requested later has come: one to this address would have as well. */
async function expectNoMail(email: string) {
  const other = await world.arrive()
  await other.sent()
  expect(world.mailServer.mailsTo(email)).toEqual([])
}

describe('the limit', () => {
  it.each([
    ['five mails an hour to an address for one network', () => '192.0.2.1', 5],
    ['fifteen mails an hour to an address for strangers together', anyAddress, 15],
  ])('allows %s, over all nodes and interactions', async (_, from, allowed) => {
    const { db, mailServer } = world
    const { node, email, sent } = own
    const nodes = [node, world.startNode()]
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        nodes[n % 2]!.send(id('interaction'), n % 3 ? email : email.toUpperCase(), 'en', from()),
      ),
    )
    expect(answers.filter((answer) => answer === 'sent')).toHaveLength(allowed)
    expect(answers.filter((answer) => answer === 'tooOften')).toHaveLength(30 - allowed)
    expect(await db.loginCode.count({ where: { email } })).toBe(allowed)
    await mailServer.codesTo(email, allowed)
    node.offsetMs = 61 * MINUTE_MS
    await sent()
    expect(mailServer.mailsTo(email)).toHaveLength(allowed + 1)
  })

  it('leaves a known browser five mails of its own', async () => {
    const { node, email, member } = own
    for (let n = 0; n < 15; n++) expect(await node.send(id('interaction'), email)).toBe('sent')
    // The next mail is then the last one.
    await world.mailServer.codesTo(email, 15)
    const address = anyAddress()
    expect(await node.send(id('interaction'), email, 'en', address)).toBe('tooOften')
    const [interaction, browser] = [id('interaction'), id('browser')]
    expect(await node.send(interaction, email, 'en', address, browser)).toBe('sent')
    const codes = await world.mailServer.codesTo(email, 16)
    expect(await node.codes.check(interaction, codes.at(-1)!)).toMatchObject({ persons: [{ id: member }] })
    const other = world.startNode()
    for (let n = 2; n <= 5; n++) expect(await other.send(id('interaction'), email, 'en', address, browser)).toBe('sent')
    expect(await node.send(interaction, email, 'en', address, browser)).toBe('tooOften')
    // What it asked for is no stranger's.
    node.offsetMs = 61 * MINUTE_MS
    for (let n = 0; n < 5; n++) await node.send(id('interaction'), email, 'en', address, browser)
    expect(await node.send(id('interaction'), email, 'en', address)).toBe('sent')
  })

  it('counts repeated requests of one interaction, and used codes', async () => {
    const { mailServer } = world
    const { node, email, member, interaction } = own
    const address = anyAddress()
    expect(await node.send(interaction, email, 'en', address)).toBe('sent')
    const [code] = await mailServer.codesTo(email)
    expect(await node.codes.check(interaction, code!)).toMatchObject({ persons: [{ id: member }] })
    for (let n = 2; n <= 5; n++) expect(await node.send(interaction, email, 'en', address)).toBe('sent')
    const row = await world.readRow(interaction)
    expect(await node.send(interaction, email, 'en', address)).toBe('tooOften')
    expect(await world.readRow(interaction)).toMatchObject({ hash: row!.hash, tries: row!.tries })
    expect(new Set(await mailServer.codesTo(email, 5)).size).toBe(5)
    expect(await node.codes.check(interaction, code!)).toBe('codeWrong')
  })

  it('counts each address when one interaction requests several at once', async () => {
    const { db } = world
    const { node, email, interaction } = own
    const others = Array.from({ length: 10 }, anyEmail)
    const address = anyAddress()
    const answers = await Promise.all(
      others.flatMap((other) => [
        node.send(interaction, email, 'en', address),
        node.send(interaction, other, 'en', address),
      ]),
    )
    expect(answers.filter((answer) => answer === 'tooOften')).toHaveLength(5)
    expect(await db.loginCode.count({ where: { email } })).toBe(5)
    expect(await db.loginCode.count({ where: { email: { in: others } } })).toBe(10)
    expect(await db.loginCode.count({ where: { interaction } })).toBe(1)
  })

  it('allows sixty mails an hour to members for strangers of one network, over all nodes', async () => {
    const { db, mailServer } = world
    const { email, interaction } = own
    const address = '2001:db8:1:2::'
    const emails = Array.from({ length: 60 }, anyEmail)
    for (const one of emails) await createMember(db, { email: one })
    const nodes = [world.startNode(), world.startNode()]
    const ask = (from: string, to: string, at: number, browser: string | null = null) =>
      nodes[at % 2]!.send(at < 0 ? interaction : id('interaction'), to, 'en', from, browser)
    // As many at once as the pool has connections: a busy machine would not give the others one within 2.5 s.
    const answers: string[] = []
    for (let first = 0; first < 60; first += 10) {
      const some = emails.slice(first, first + 10)
      const asked = some.map((one, n) => ask(`${address}${(first + n).toString(16)}`, one, first + n))
      answers.push(...(await Promise.all(asked)))
    }
    expect(answers).toEqual(emails.map(() => 'sent'))
    await Promise.all(emails.map((one) => mailServer.codesTo(one)))
    // The answer is the same, so that it says nothing about the address.
    expect(await ask(`${address}ffff`, email, -2)).toBe('sent')
    await expectNoMail(email)
    // Its code, were it guessed, signs nobody in.
    const hash = createHash('sha256').update(`${interaction}:12345678`).digest('hex')
    await db.loginCode.update({ where: { interaction }, data: { hash } })
    expect(await nodes[0]!.codes.check(interaction, '12345678')).toBe('codeWrong')
    expect(await ask(`${address}ffff`, email, 0, id('browser'))).toBe('sent')
    expect(await ask('2001:db8:1:3::1', email, 0)).toBe('sent')
    await mailServer.codesTo(email, 2)
    nodes[0]!.offsetMs = 61 * MINUTE_MS
    expect(await ask(`${address}ffff`, email, 0)).toBe('sent')
    await mailServer.codesTo(email, 3)
  })

  it('of a network is not used up by addresses that no member has', async () => {
    const { mailServer } = world
    const { email, interaction } = own
    const address = anyAddress()
    const nodes = [world.startNode(), world.startNode(), world.startNode(), world.startNode()]
    for (let n = 0; n < times(150, 66); n++) {
      expect(await nodes[n % 3]!.send(id('interaction'), anyEmail(), 'en', address)).toBe('sent')
    }
    expect(await nodes[3]!.send(interaction, email, 'en', `::ffff:${address}`)).toBe('sent')
    await mailServer.codesTo(email)
  })

  it('allows sixty requests a minute of one network, at each node', async () => {
    const { email, interaction } = own
    const node = world.startNode()
    const address = anyAddress()
    for (let n = 0; n < 60; n++) expect(await node.send(id('interaction'), anyEmail(), 'en', address)).toBe('sent')
    expect(await node.send(interaction, email, 'en', address)).toBe('tooOften')
    expect(await node.send(interaction, email, 'en', `::ffff:${address}`)).toBe('tooOften')
    expect(await world.readRow(interaction)).toBeNull()
    expect(await node.send(interaction, email, 'en', anyAddress())).toBe('sent')
    expect(await node.send(interaction, email, 'en', address, id('browser'))).toBe('sent')
  })

  it('ends with the deletion of the codes after an hour', async () => {
    // A database of its own: the deletion takes the codes of every test.
    const db = openTestDatabase(await migratedDatabase())
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
