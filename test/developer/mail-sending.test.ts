import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { auditing } from '../../routers/developer/audit/record.ts'
import type { About } from '../../routers/developer/mails/queue.ts'
import { queueMails } from '../../routers/developer/mails/queue.ts'
import { addInvitation } from '../../routers/developer/teams/invitations.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { inviteToTeam } from '../../server/admin/teams.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { words } from '../../server/browser/words/words.ts'
import { mailSender } from '../../server/mails/send.ts'
import { startMailServer } from '../oauth/mail-server.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const issuer = 'https://auth.example/v1/oauth'
const portal = `${issuer}/developers`
const MINUTE_MS = 60_000
const NOW = Date.parse('2026-11-25T12:00:00Z')

/** What the next mails are answered. */
const answers: (Error | undefined)[] = []
const refusal = (code: number) => Object.assign(new Error('no'), { responseCode: code })
const server = started(
  () => startMailServer({ onRcptTo: (_to, _session, done) => done(answers.shift() ?? null) }),
  ({ close }) => close(),
)

let db: Database
let team: string
let [anna, ben]: string[] = []
beforeEach(async () => {
  db = (await startQueue()).db
  ;[team, anna, ben] = [id('team'), id('anna'), id('ben')]
  await db.team.create({ data: { id: team, name: 'Tom & <b>Jerry</b>', level: 'hobby' } })
  const people = [anna!, ben!].map((one) => ({ id: one, firstName: 'Änne', lastName: 'O"Neil' }))
  await db.person.createMany({ data: people.map((one) => ({ ...one, email: `${one.id}@example.org` })) })
  const roles = ['owner', 'developer'] as const
  await db.teamMember.createMany({
    data: people.map((one, n) => ({ teamId: team, personId: one.id, role: roles[n]! })),
  })
  await db.mailSettings.create({ data: { personId: ben!, language: 'de' } })
})

const failures: string[] = []
const send = (now = NOW) =>
  mailSender({
    sendMail: createMailer(server.url, 'no-reply@example.org', 'Sportverein'),
    issuer,
    words,
    brand: 'Sportverein',
    failed: ({ message }) => failures.push(message),
  })(db, now)
const queue = (
  mailType: Parameters<typeof queueMails>[1]['kind'],
  about: Partial<About> = {},
  to = 'everyone' as const,
) =>
  db.$transaction((tx) =>
    queueMails(tx, { kind: mailType, team, to, about: { name: 'Trainer', ...about }, at: new Date(NOW) }),
  )
const sentTo = (person: string) => server.mailsTo(`${person}@example.org`)
const waiting = async () => (await db.mail.findMany({ where: { teamId: team, nextAt: { not: null } } })).length

describe('a queued mail', () => {
  it('is sent once, to each person in their language, as text and HTML with the page it is about', async () => {
    await queue('requestRefused', { client: 'c_1', isNew: true, reason: 'No <purpose> &\nno name.' })
    expect([await send(), await send(), await send()]).toEqual([1, 1, 0])
    const [[en], [de]] = [sentTo(anna!), sentTo(ben!)]
    expect([en!.headers.subject, de!.headers.subject]).toEqual(['Not approved: Trainer', 'Nicht genehmigt: Trainer'])
    expect(en!.headers['auto-submitted']).toBe('auto-generated')
    expect(en!.headers['message-id']).toMatch(/^<[0-9a-f-]{36}@example\.org>$/)
    expect(en!.headers.from).toBe('Sportverein <no-reply@example.org>')
    const page = `${portal}/teams/${team}/clients/c_1`
    expect(
      en!.parts['text/plain']!.replaceAll('\r\n', '\n').trim(),
    ).toBe(`The request for the production client “Trainer” was not approved. The reason:

No <purpose> &
no name.

What you asked for is still there: you can change it and send it again.

Change the request: ${page}

--
You get this e-mail because you are in the team “Tom & <b>Jerry</b>”.
Choose which e-mails you get: ${portal}/mails`)
    const html = en!.parts['text/html']!
    expect(html).toContain('No &lt;purpose&gt; &amp;')
    expect(html).toContain(`<a href="${page}">Change the request</a>`)
    expect(html).not.toContain('<b>')
    expect(de!.parts['text/html']).toContain('<html lang="de">')
    expect(de!.parts['text/plain']).toContain('Die Begründung:')
  })

  it('of each kind has its own subject in both languages', async () => {
    const subjects = async (mailType: Parameters<typeof queueMails>[1]['kind'], about: Partial<About>) => {
      await queue(mailType, about)
      await send()
      await send()
      return [sentTo(anna!), sentTo(ben!)].map((mails) => mails.at(-1)!.headers.subject)
    }
    expect([
      ...(await subjects('requestReceived', { app: 'a_1' })),
      ...(await subjects('requestApproved', { client: 'c_1', isNew: true })),
      ...(await subjects('webhookFailing', { app: 'a_1', count: 2 })),
      ...(await subjects('webhookEnded', { app: 'a_1', count: 1 })),
    ]).toEqual([
      ...['Request received: Trainer', 'Antrag eingegangen: Trainer', 'Approved: Trainer', 'Genehmigt: Trainer'],
      ...['Webhook failing for 24 hours: Trainer', 'Webhook schlägt seit 24 Stunden fehl: Trainer'],
      ...['Webhook switched off: Trainer', 'Webhook abgeschaltet: Trainer'],
    ])
    expect(sentTo(anna!).at(-1)!.parts['text/plain']).toContain(`${portal}/teams/${team}/apps/a_1/deliveries`)
    await subjects('webhookFailing', { app: 'a_1', count: 1, addresses: ['https://hooks.example/<b>'] })
    const [en, de] = [sentTo(anna!), sentTo(ben!)].map((mails) => mails.at(-1)!.parts)
    expect(en!['text/plain']).toMatch(/^Among them these addresses:\r?\nhttps:\/\/hooks\.example\/<b>\r?$/m)
    expect(de!['text/html']).toMatch(/Darunter diese Adressen:\r?\nhttps:\/\/hooks\.example\/&lt;b&gt;/)
  })

  it('is not sent to a person who has left the team, and goes with an erased one', async () => {
    await queue('requestReceived', { app: 'a_1' })
    await db.teamMember.delete({ where: { of: { teamId: team, personId: ben! } } })
    expect([await send(), await send()]).toEqual([1, 0])
    expect([sentTo(anna!).length, sentTo(ben!).length]).toEqual([1, 0])
  })
})

describe('an invitation', () => {
  const invite = (email: string) => inviteToTeam(db, { team, email, role: 'developer' }, new Date(NOW))

  it('names team, role and end, and links to the portal', async () => {
    const email = `${id('new')}@example.org`
    const { id: invitation } = await invite(email)
    await db.teamInvitation.update({ where: { id: invitation }, data: { invitedBy: anna! } })
    expect(await send()).toBe(1)
    const [mail] = server.mailsTo(email)
    expect(mail!.headers.subject).toBe('Invitation to the team Tom & <b>Jerry</b>')
    const text = mail!.parts['text/plain']!
    expect(text).toContain('Änne O"Neil invites you to the team “Tom & <b>Jerry</b>”, as a developer.')
    expect(text).toContain('until 2 December 2026')
    expect(text).toContain(`Sign in: ${portal}\r\n`)
    expect(mail!.parts['text/html']).not.toContain('<b>')
  })

  it('that was withdrawn or has expired is not sent', async () => {
    const [withdrawn, expired] = [`${id('new')}@example.org`, `${id('new')}@example.org`]
    const { id: invitation } = await invite(withdrawn)
    await db.teamInvitation.delete({ where: { id: invitation } })
    const { id: old } = await invite(expired)
    await db.teamInvitation.update({ where: { id: old }, data: { expiresAt: new Date(NOW) } })
    expect([await send(), await send(), await send()]).toEqual([1, 1, 0])
    expect([...server.mailsTo(withdrawn), ...server.mailsTo(expired)]).toEqual([])
  })

  it('of a person who was erased is not sent', async () => {
    const email = `${id('new')}@example.org`
    const invitation = { team, email, role: 'developer', by: anna!, now: new Date(NOW) } as const
    const author = { person: anna!, at: invitation.now }
    const made = await auditing(db, author, (tx, note) => addInvitation(tx, note, invitation))
    expect(made).toMatchObject({ mailed: true })
    await erase(db, anna!, [])
    expect([await send(), await send()]).toEqual([1, 0])
    expect(server.mailsTo(email)).toEqual([])
  })
})

describe('a mail that the server does not take', () => {
  it('is tried again after a minute, then after as long as it has waited', async () => {
    failures.length = 0
    await queue('requestReceived', { app: 'a_1' }, 'everyone')
    await db.mail.deleteMany({ where: { personId: ben! } })
    answers.push(refusal(451), refusal(451), refusal(451))
    expect([await send(), await send(NOW + MINUTE_MS - 1)]).toEqual([0, 0])
    expect(await send(NOW + MINUTE_MS)).toBe(0)
    expect(await send(NOW + 5 * MINUTE_MS)).toBe(0)
    expect(await send(NOW + 10 * MINUTE_MS - 1)).toBe(0)
    expect(answers).toEqual([])
    expect([await waiting(), await send(NOW + 10 * MINUTE_MS), await waiting()]).toEqual([1, 1, 0])
    expect(sentTo(anna!)).toHaveLength(1)
    expect(failures).toHaveLength(3)
    expect(failures.join()).not.toContain(anna!)
  })

  it('is given up when the server refuses the recipient permanently, and the others are sent', async () => {
    await queue('requestReceived', { app: 'a_1' })
    answers.push(refusal(550))
    expect([await send(), await send(), await send(), await waiting()]).toEqual([1, 1, 0, 0])
    expect(sentTo(anna!).length + sentTo(ben!).length).toBe(1)
  })

  it('waits while the server cannot be reached', async () => {
    await queue('requestReceived', { app: 'a_1' })
    const sendMail = createMailer('smtp://127.0.0.1:1', 'no-reply@example.org')
    const unreachable = mailSender({
      sendMail,
      issuer,
      words,
      brand: undefined,
      failed: () => {},
    })
    expect([await unreachable(db, NOW), await waiting()]).toEqual([0, 2])
  })
})
