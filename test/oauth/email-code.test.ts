import { createHash, randomUUID } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Database, Transaction } from '../../prisma/client.ts'
import { findClubs } from '../../routers/approvals/club-approvals.ts'
import { auditing } from '../../routers/developer/audit/record.ts'
import { takeMail } from '../../routers/developer/mails/due.ts'
import { addInvitation } from '../../routers/developer/teams/invitations.ts'
import { comparableEmail } from '../../routers/kernel/email-address.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { selectableMembers } from '../../server/browser/login/development.ts'
import { readFullName } from '../../server/browser/login/persons.ts'
import { mailWords } from '../../server/mails/message.ts'
import { choicesFor } from '../../server/oauth/consents/consent-choices.ts'
import { listConsents } from '../../server/oauth/consents/consents.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { anyEmail, codeWorld, MINUTE_MS, otherThan } from './code-world.ts'
import { createMember } from './members.ts'

const { world, own } = codeWorld()

describe('a sign-in code', () => {
  it('identifies its member', async () => {
    const { node, email, member, interaction, sent } = own
    const code = await sent()
    expect(code).toMatch(/^\d{8}$/)
    expect(await node.codes.check(interaction, code)).toEqual({ email, persons: [{ id: member, name: 'Mia Member' }] })
  })

  it('may be typed with spaces', async () => {
    const { node, member, interaction, sent } = own
    const code = await sent()
    const typed = ` ${code.slice(0, 4)} ${code.slice(4)} `
    expect(await node.codes.check(interaction, typed)).toMatchObject({ persons: [{ id: member }] })
  })

  it('is stored as a hash only', async () => {
    const { email, interaction, sent } = own
    const code = await sent()
    const row = await world.readRow(interaction)
    const hash = createHash('sha256').update(`${interaction}:${code}`).digest('hex')
    expect(row).toMatchObject({ email, hash, tries: 0 })
    expect(row!.expiresAt.getTime() - row!.sentAt.getTime()).toBe(10 * MINUTE_MS)
    expect(JSON.stringify(row)).not.toContain(code)
  })

  it('works once for concurrent requests', async () => {
    const { node, interaction, sent } = own
    const code = await sent()
    const nodes = [node, world.startNode()]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => nodes[n % 2]!.codes.check(interaction, code)),
    )
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'codeExpired')).toHaveLength(19)
  })

  it('is refused when it is wrong', async () => {
    const { db } = world
    const { node, member, interaction, sent } = own
    const code = await sent()
    for (const wrong of [otherThan(code), '', code.slice(1), `${code}0`, 'ÄÖÜ', '\0', `0x${code}0`]) {
      const row = await world.readRow(interaction)
      if (row!.tries === 4) await db.loginCode.update({ where: { interaction }, data: { tries: 0 } })
      expect(await node.codes.check(interaction, wrong)).toBe('codeWrong')
    }
    expect(await node.codes.check(interaction, code)).toMatchObject({ persons: [{ id: member }] })
  })

  it('is void after five wrong tries', async () => {
    const { node, interaction, sent } = own
    const code = await sent()
    for (let n = 1; n <= 5; n++) expect(await node.codes.check(interaction, otherThan(code, n))).toBe('codeWrong')
    expect(await node.codes.check(interaction, code)).toBe('codeExpired')
  })

  it('has five tries, also for concurrent tries on two nodes', async () => {
    const { node, sent } = own
    for (let round = 0; round < times(5, 2); round++) {
      const ownOnes = id('interaction')
      const code = await sent(ownOnes)
      const nodes = [node, world.startNode()]
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => nodes[n % 2]!.codes.check(ownOnes, otherThan(code, n + 1))),
      )
      expect(answers.filter((answer) => answer === 'codeWrong')).toHaveLength(5)
      expect(answers.filter((answer) => answer === 'codeExpired')).toHaveLength(15)
      expect(await world.readRow(ownOnes)).toMatchObject({ tries: 5 })
    }
  })

  it('works for ten minutes', async () => {
    const { node, member, interaction, sent } = own
    const code = await sent()
    node.offsetMs = 10 * MINUTE_MS + 1
    expect(await node.codes.check(interaction, code)).toBe('codeExpired')
    expect(await world.readRow(interaction)).toMatchObject({ tries: 0 })
    node.offsetMs = 9 * MINUTE_MS
    expect(await node.codes.check(interaction, code)).toMatchObject({ persons: [{ id: member }] })
  })

  it('works in its own interaction only', async () => {
    const { node, member, interaction, sent } = own
    const code = await sent()
    const other = id('interaction')
    expect(await node.codes.check(other, code)).toBe('codeExpired')
    const second = await sent(other)
    expect(await node.codes.check(other, code)).toBe('codeWrong')
    expect(await node.codes.check(interaction, second)).toBe('codeWrong')
    expect(await node.codes.check(other, second)).toMatchObject({ persons: [{ id: member }] })
  })

  it('replaces the previous one', async () => {
    const { node, member, interaction, sent } = own
    const first = await sent()
    for (let n = 1; n <= 3; n++) await node.codes.check(interaction, otherThan(first, n))
    const second = await sent()
    expect(await world.readRow(interaction)).toMatchObject({ tries: 0 })
    expect(await node.codes.check(interaction, first)).toBe('codeWrong')
    expect(await node.codes.check(interaction, second)).toMatchObject({ persons: [{ id: member }] })
  })

  it('identifies all members who share the address, in any case', async () => {
    const { db, mailServer } = world
    const { node, email, member, interaction } = own
    const twin = await createMember(db, { email: email.replace('mia', 'MIA'), firstName: 'Ben' })
    await createMember(db, { email, member: false })
    await createMember(db, { email, leftAt: new Date(Date.now() - MINUTE_MS) })
    const staying = await createMember(db, { email, firstName: 'Zoe', leftAt: new Date(Date.now() + 60 * MINUTE_MS) })
    // The mail goes to Ben's spelling, as he is the first by name.
    const to = email.replace('mia', 'MIA')
    expect(await node.send(interaction, `  ${email.replace('m', 'M')} `)).toBe('sent')
    const [code] = await mailServer.codesTo(to)
    expect(await node.codes.check(interaction, code!)).toEqual({
      email,
      persons: [
        { id: twin, name: 'Ben Member' },
        { id: member, name: 'Mia Member' },
        { id: staying, name: 'Zoe Member' },
      ],
    })
  })

  it('is void once the member has left', async () => {
    const { db } = world
    const { node, member, interaction, sent } = own
    const code = await sent()
    await db.membership.updateMany({ where: { personId: member }, data: { leftAt: new Date(Date.now() - 1) } })
    expect(await node.codes.check(interaction, code)).toBe('codeExpired')
  })

  it('is not sent to a look-alike address', async () => {
    const { db, mailServer } = world
    const { node, email, sent } = own
    const kelvin = email.replace('mia', 'miak')
    await createMember(db, { email: kelvin })
    for (const typed of [kelvin.replace('k', '\u212a'), kelvin.replace('k', '_'), kelvin.replace('mia', '%')])
      expect(await node.send(id('interaction'), typed)).toBe('sent')
    await sent()
    expect(mailServer.mails.filter(({ to }) => to[0] === kelvin || /[\u212a%_]/.test(to[0]!))).toEqual([])
  })
})

/** The statements of a request up to its response, once the last one that follows has begun. */
async function statementsFor(email: string, last: string): Promise<string[]> {
  const began: string[] = []
  const none = () => {}
  const observer = {
    opened: none,
    waited: none,
    failed: none,
    timedOut: none,
    unconnected: none,
    began: (name: string) => void began.push(name),
  }
  const database = openTestDatabase(inject('databaseUrl'), { observer })
  onTestFinished(() => database.$disconnect())
  const node = world.startNode({ database, sendMail: async () => {} })
  expect(await node.send(id('interaction'), email)).toBe('sent')
  const before = [...began]
  await expect.poll(() => began).toContain(last)
  return before
}

it('requesting a code makes the same statements for an address without a member, and looks for one after the response', async () => {
  const known = anyEmail()
  await createMember(world.db, { email: known })
  const ofKnown = await statementsFor(known, 'login_release_code')
  const ofUnknown = await statementsFor(anyEmail(), 'SELECT TeamInvitation')
  expect(ofKnown).toEqual(ofUnknown)
  expect(ofKnown).toContain('INSERT LoginCode')
  expect(ofKnown.at(-1)).toBe('COMMIT')
})

/** Signs in with the code that is sent for an address. */
async function signIn(typed: string) {
  const [node, interaction] = [world.startNode(), id('interaction')]
  const before = world.mailServer.mails.length
  expect(await node.send(interaction, typed)).toBe('sent')
  await expect.poll(() => world.mailServer.mails.length + node.errors.length).toBe(before + 1)
  expect(node.errors).toEqual([])
  const { mails } = world.mailServer
  const [code] = await world.mailServer.codesTo(mails.at(-1)!.to[0]!, 1)
  const checked = await node.codes.check(interaction, code!)
  return { to: mails.at(-1)!.to[0]!, checked }
}

describe('a mailbox with several spellings', () => {
  const spellings: [string, (unicode: string, ascii: string) => [stored: string, typed: string]][] = [
    ['an umlaut, typed in a browser', (unicode, ascii) => [`jo@${unicode}`, `jo@${ascii}`]],
    ['punycode, typed in an app', (unicode, ascii) => [`bo@${ascii}`, `bo@${unicode}`]],
    ['capitals', (unicode) => [`INFO@${unicode.toUpperCase()}`, `info@${unicode}`]],
    ['decomposed letters', (unicode) => [`Info@${unicode.normalize('NFD')}`, `info@${unicode}`]],
    ['letters before the @', (_, ascii) => [`jörg@${ascii}`, `JO\u0308RG@${ascii}`]],
  ]
  it.each(spellings)('gets the code, to the address as stored: %s', async (_, of) => {
    const unicode = `${id('müller')}.example`
    const [stored, typed] = of(unicode, domainToASCII(unicode))
    const member = await createMember(world.db, { email: stored })
    const { to, checked } = await signIn(typed)
    expect(comparableEmail(to)).toBe(comparableEmail(stored))
    expect(checked).toMatchObject({ persons: [{ id: member }] })
  })
})

describe('the stored form of a mailbox', () => {
  const readMailbox = async (person: string, db: Database | Transaction = world.db) =>
    (await db.person.findUniqueOrThrow({ where: { id: person }, select: { mailbox: true } })).mailbox

  it('follows an address that is changed by SQL, and is null for one in ASCII', async () => {
    const own = id('n').replace(/\D/g, '')
    // Read before the commit, after which a sign-in of another file fills it.
    const member = await world.db.$transaction(async (tx) => {
      const created = await createMember(tx, { email: `JÖRG-${own}@example.org` })
      expect(await readMailbox(created, tx)).toBe(null)
      return created
    })
    const changeTo = (email: string) =>
      world.db.$queryRaw`UPDATE "Person" SET email = ${email} WHERE id = ${member} RETURNING mailbox`
    await signIn(`jörg-${own}@example.org`)
    expect(await readMailbox(member)).toBe(`jörg-${own}@example.org`)
    expect(await changeTo(`ÄNNE-${own}@example.org`)).toEqual([{ mailbox: null }])
    await signIn(`änne-${own}@example.org`)
    expect(await readMailbox(member)).toBe(`änne-${own}@example.org`)
    const node = world.startNode()
    const before = world.mailServer.mails.length
    expect(await node.send(id('interaction'), `jörg-${own}@example.org`)).toBe('sent')
    expect(await changeTo(`anne-${own}@example.org`)).toEqual([{ mailbox: null }])
    await signIn(`Anne-${own}@example.org`)
    expect(await readMailbox(member)).toBe(null)
    expect(world.mailServer.mails.length).toBe(before + 1)
  })

  it('is found by the invitation to a team, and by the erasure', async () => {
    const own = id('n').replace(/\D/g, '')
    const [team, now] = [id('team'), new Date()]
    await world.db.team.create({ data: { id: team, name: 'T', level: 'hobby' } })
    const person = await createMember(world.db, { email: `Jo@Müller-${own}.example` })
    const invite = (email: string) =>
      auditing(world.db, { person: null, at: now }, (tx, note) =>
        addInvitation(tx, note, { team, email, role: 'developer', by: null, now }),
      )
    await invite(`jo@mu\u0308ller-${own}.example`)
    const { email } = await invite(comparableEmail(`JO@MÜLLER-${own}.EXAMPLE`)!)
    expect(await world.db.teamInvitation.findMany({ where: { teamId: team }, select: { email: true } })).toEqual([
      { email },
    ])
    const { checked } = await signIn(`jo@müller-${own}.example`)
    expect(checked).toMatchObject({ email, persons: [{ id: person }] })
    await erase(world.db, person, [])
    expect(await world.db.teamInvitation.count({ where: { teamId: team } })).toBe(0)
    expect(await world.db.loginCode.count({ where: { email } })).toBe(0)
  })
})

/** A member of these clubs, which are created when they are new. */
async function member(
  data: { firstName?: string; lastName?: string; email?: string; birthday?: Date },
  clubs: string[],
) {
  const person = id('person')
  await world.db.organisation.createMany({
    data: clubs.map((club) => ({ id: club, kind: 'club' as const, name: club.split('-')[0]! })),
    skipDuplicates: true,
  })
  await world.db.person.create({ data: { id: person, firstName: '', lastName: '', email: '', ...data } })
  await world.db.membership.createMany({
    data: clubs.map((organisationId) => ({ organisationId, personId: person, administrator: true })),
  })
  return person
}

async function signInAs(email: string) {
  const [node, interaction] = [world.startNode(), id('interaction')]
  expect(await node.send(interaction, email)).toBe('sent')
  const [code] = await world.mailServer.codesTo(email)
  const checked = await node.codes.check(interaction, code!)
  if (typeof checked === 'string') throw new Error(checked)
  return checked.persons
}

const anna = { firstName: 'Anna', lastName: 'Ahlers' }

describe('people who sign in with one address', () => {
  it('differ by the year of birth, and by their clubs', async () => {
    const [email, rowers, judo] = [`${id('home')}@example.org`, id('Rowers'), id('Judo')]
    const mother = await member({ ...anna, email, birthday: new Date('1980-05-01') }, [rowers])
    const daughter = await member({ ...anna, email, birthday: new Date('2011-05-01') }, [rowers])
    expect(new Map((await signInAs(email)).map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [mother, 'Anna Ahlers (1980)'],
        [daughter, 'Anna Ahlers (2011)'],
      ]),
    )
    const other = `${id('home')}@example.org`
    const first = await member({ ...anna, email: other }, [rowers])
    const second = await member({ ...anna, email: other }, [judo])
    expect(new Map((await signInAs(other)).map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [first, 'Anna Ahlers (Rowers)'],
        [second, 'Anna Ahlers (Judo)'],
      ]),
    )
  })

  it('have a label without a name', async () => {
    const email = `${id('home')}@example.org`
    const person = await member({ email, firstName: '\u200b', lastName: '\u00a0' }, [id('Rowers')])
    expect(await signInAs(email)).toEqual([{ id: person, name: person }])
    expect(await readFullName(world.db, person)).toBe(person)
  })
})

describe('the list of the trial', () => {
  it('has each person with a label of their own', async () => {
    const club = id('Rowers')
    const people = [
      await member({ ...anna, birthday: new Date('1980-05-01') }, [club]),
      await member({ ...anna, birthday: new Date('1980-06-01') }, [club]),
      await member({}, [club]),
    ]
    const labels = (await selectableMembers(world.db)).map(({ name }) => name)
    expect(new Set(labels).size).toBe(labels.length)
    expect(labels).not.toContain('')
    expect(labels).toContain(people[2])
  })
})

describe('clubs of one name', () => {
  it('differ on the consent page and for their administrator', async () => {
    const clubs = [id('Rowers'), id('Rowers')].sort()
    const person = await member(anna, clubs)
    const labels = clubs.map((club) => `Rowers (${club})`)
    const [team, client] = [id('team'), id('client')]
    await world.db.team.create({ data: { id: team, name: 'T', level: 'hobby' } })
    await world.db.client.create({ data: { id: client, name: 'C', teamId: team, environment: 'production' } })
    const asked = {
      person,
      client,
      scopes: ['svc.me.profile:read' as const],
      clubApproval: false,
      consentAges: null,
      now: Date.now(),
    }
    expect((await choicesFor(world.db, asked))?.open.map(({ name }) => name)).toEqual(labels)
    expect((await findClubs(world.db, person, Date.now())).map(({ name }) => name)).toEqual(labels)
    const data = clubs.map((organisationId) => ({
      id: randomUUID(),
      personId: person,
      organisationId,
      clientId: client,
      scopes: ['svc.me.profile:read'],
    }))
    await world.db.consent.createMany({ data })
    const named = (await listConsents(world.db, person, Date.now())).map(({ organisation }) => organisation)
    expect(named.sort()).toEqual(labels)
  })
})

describe('the mail of an invitation', () => {
  it('names an inviter without a name by the id, in both languages', async () => {
    const [team, at] = [id('team'), new Date(0)]
    const inviter = await member({}, [id('Rowers')])
    await world.db.team.create({ data: { id: team, name: 'T', level: 'hobby' } })
    const email = `${id('new')}@example.org`
    const invitation = { team, email, role: 'owner' as const, by: inviter, now: at }
    await auditing(world.db, { person: null, at }, (tx, note) => addInvitation(tx, note, invitation))
    const mail = await takeMail(world.db, at.getTime())
    expect(mail?.to).toBe(email)
    for (const { invitation } of Object.values(mailWords)) {
      const named = { name: '', team: 'T', brand: undefined, isNew: false, reason: '', count: 1, expiresAt: 0 }
      const { paragraphs } = invitation({ ...named, addresses: [], isExpired: false }, mail!.invitation!)
      expect(paragraphs[0]!.startsWith(`${inviter} `)).toBe(true)
    }
  })
})
