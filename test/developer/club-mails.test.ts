import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { requestApproval } from '../../routers/approvals/approvals.ts'
import { requestForChild } from '../../routers/approvals/child-requests.ts'
import { decide } from '../../routers/approvals/decide.ts'
import { decideForChild } from '../../routers/approvals/decide-for-child.ts'
import { MAILS_TO_ADMINISTRATOR } from '../../routers/approvals/mails.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { words } from '../../server/browser/words/words.ts'
import { mailSender } from '../../server/mails/send.ts'
import { startMailServer } from '../oauth/mail-server.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const issuer = 'https://auth.example/v1/oauth'
const NOW = Date.parse('2026-11-25T12:00:00Z')
const DAY_MS = 86_400_000
const server = started(
  () => startMailServer(),
  ({ close }) => close(),
)

let db: Database
let [club, app, team]: string[] = []
let [anna, ben, member]: string[] = []
let addApp: (name: string) => Promise<string>
beforeEach(async () => {
  const queue = await startQueue()
  db = queue.db
  team = id('team')
  const { providerId } = await db.app.findUniqueOrThrow({ where: { id: queue.app }, select: { providerId: true } })
  await db.team.create({ data: { id: team, name: 'Builders', level: 'developer' } })
  addApp = async (name) => {
    const purpose = { 'svc.me.profile:read': 'To greet <b>you</b>.' }
    const scopes = ['svc.me.profile:read', 'svc.me.events:read', 'lms.me.quizzes:read']
    const own = id('app')
    await db.app.create({ data: { id: own, name, teamId: team!, providerId }, select: { id: true } })
    const client = { id: id('client'), name: 'Web', appId: own, teamId: team!, environment: 'production' as const }
    await db.client.create({ data: { ...client, scopes, purpose }, select: { id: true } })
    return own
  }
  app = await addApp('Kuchen & Co')
  ;[club, anna, ben, member] = [id('club'), id('anna'), id('ben'), id('member')]
  await db.organisation.create({ data: { id: club, kind: 'club', name: 'SV <i>Nord</i>' } })
  const people = [anna!, ben!, member!]
  await db.person.createMany({
    data: people.map((one) => ({ id: one, firstName: 'Mia', lastName: 'M', email: `${one}@example.org` })),
  })
  await db.membership.createMany({
    data: people.map((one) => ({ organisationId: club!, personId: one, administrator: one !== member })),
  })
  await db.mailSettings.create({ data: { personId: ben!, language: 'de' } })
})

const ask = (of = app!, now = NOW) =>
  requestApproval(db, { club: club!, app: of }, now, { person: member!, language: 'en' })
const failed = (error: Error) => {
  throw error
}
const sendAll = async (now = NOW) => {
  const sendMail = createMailer(server.url, 'no-reply@example.org', 'Sportverein')
  const send = mailSender({ sendMail, issuer, words, brand: 'Sportverein', failed })
  while ((await send(db, now)) > 0);
}
const sentTo = (person: string | undefined) => server.mailsTo(`${person}@example.org`)
const queued = async () =>
  (await db.mail.findMany({ where: { approvalId: { not: null } } })).map(({ administratorId }) => administratorId)

describe('a request to a club', () => {
  it('is mailed to each administrator in their language, with who asks, and each scope with what it is for', async () => {
    await ask()
    await sendAll()
    const [[en, ...moreEn], [de, ...moreDe]] = [sentTo(anna), sentTo(ben)]
    expect([moreEn, moreDe, sentTo(member)]).toEqual([[], [], []])
    expect([en!.headers.subject, de!.headers.subject]).toEqual([
      'SV <i>Nord</i> is asked to approve Kuchen & Co',
      'Anfrage an SV <i>Nord</i>: Kuchen & Co',
    ])
    const text = en!.parts['text/plain']!.replaceAll('\r\n', '\n')
    expect(text).toContain('Mia M asks SV <i>Nord</i> to approve the app “Kuchen & Co” by Builders.')
    expect(text).toContain(
      '- Read your name, e-mail address, birthday and picture\n  To greet <b>you</b>.\n- See your calendar\n',
    )
    expect(text).not.toContain('quiz')
    expect(text).toContain(`Decide about the app: ${issuer}/club?club=${club}`)
    expect(text).toContain('because you are an administrator of SV <i>Nord</i>')
    expect(en!.parts['text/html']).toContain('To greet &lt;b&gt;you&lt;/b&gt;.')
    expect(en!.parts['text/html']).not.toMatch(/<[bi]>/)
  })

  it('is mailed once, however often and at once members ask', async () => {
    await Promise.all([ask(), ask(), ask()])
    await ask()
    expect((await queued()).toSorted()).toEqual([anna, ben].toSorted())
    await decide(
      db,
      { club: club!, app: app!, state: 'approved', reason: null },
      { administrator: null, at: new Date(NOW) },
    )
    await ask()
    expect(await queued()).toHaveLength(2)
  })

  it('is mailed to an administrator at most ten times in 24 hours, also by requests at once', async () => {
    const apps = await Promise.all(Array.from({ length: MAILS_TO_ADMINISTRATOR + 2 }, (_, n) => addApp(`App ${n}`)))
    await Promise.all(apps.map((one) => ask(one)))
    expect((await queued()).filter((one) => one === anna)).toHaveLength(MAILS_TO_ADMINISTRATOR)
    expect(await db.clubApproval.count({ where: { organisationId: club! } })).toBe(apps.length)
    await ask(app, NOW + DAY_MS)
    expect((await queued()).filter((one) => one === anna)).toHaveLength(MAILS_TO_ADMINISTRATOR + 1)
  })

  it('is mailed to nobody who has switched these mails off, has left, or is no administrator', async () => {
    await db.mailSettings.update({ where: { personId: ben! }, data: { off: ['approvalRequested'] } })
    await db.membership.updateMany({ where: { personId: anna! }, data: { leftAt: new Date(NOW - 1) } })
    await ask()
    expect(await queued()).toEqual([])
  })

  it('is not mailed once the club has decided, or the person is no administrator any more', async () => {
    await ask()
    await db.membership.updateMany({ where: { personId: anna! }, data: { administrator: false } })
    await sendAll()
    expect([sentTo(anna).length, sentTo(ben).length]).toEqual([0, 1])
    const other = await addApp('Other')
    await ask(other)
    await decide(
      db,
      { club: club!, app: other, state: 'refused', reason: 'No.' },
      { administrator: null, at: new Date(NOW) },
    )
    await sendAll()
    expect(sentTo(ben)).toHaveLength(1)
  })

  it('names no member who was erased, and goes with an erased administrator', async () => {
    await ask()
    await db.person.deleteMany({ where: { id: { in: [member!, ben!] } } })
    expect(await queued()).toEqual([anna])
    await sendAll()
    expect(sentTo(anna)[0]!.parts['text/plain']).toContain('A member asks SV <i>Nord</i>')
  })

  it('without an asker is mailed to nobody', async () => {
    await requestApproval(db, { club: club!, app: app! }, NOW)
    expect(await queued()).toEqual([])
  })
})

describe('a request of a child', () => {
  const ages = new Map([['', 16]])
  const scopes = ['svc.me.profile:read', 'lms.me.quizzes:read']
  const ask = (asked = scopes, now = NOW) =>
    requestForChild(db, { child: member!, club: club!, app: app! }, asked, now, { person: member!, language: 'it' })
  const name = (guardianId: string, until: Date | null = null) =>
    db.guardian.create({ data: { childId: member!, guardianId, until } })
  const queuedFor = async () =>
    (await db.mail.findMany({ where: { childRequestId: { not: null } } })).map(({ administratorId }) => administratorId)

  it('is mailed to each guardian in their language, with what the child asks for, once', async () => {
    await db.person.update({ where: { id: ben! }, data: { preferredLanguage: 'fr' } })
    await db.mailSettings.deleteMany({ where: { personId: ben! } })
    await db.person.update({ where: { id: anna! }, data: { preferredLanguage: 'de' } })
    for (const guardian of [anna!, ben!]) await name(guardian)
    await Promise.all([ask(), ask(), ask()])
    await sendAll()
    const [[de, ...moreDe], [fr, ...moreFr]] = [sentTo(anna), sentTo(ben)]
    expect([moreDe, moreFr, sentTo(member)]).toEqual([[], [], []])
    expect([de!.headers.subject, fr!.headers.subject]).toEqual([
      'Mia M fragt nach Kuchen & Co',
      'Mia M demande Kuchen & Co',
    ])
    const text = fr!.parts['text/plain']!.replaceAll('\r\n', '\n')
    expect(text).toContain('Mia M (SV <i>Nord</i>) vous demande d’approuver l’application « Kuchen & Co » de Builders.')
    expect(text).toContain('\n  To greet <b>you</b>.\n- ')
    expect(text).not.toContain('calendrier')
    expect(text).toContain(`${issuer}/family\n`)
    expect(fr!.parts['text/html']).not.toMatch(/<[bi]>/)
  })

  it('without a guardian in force is mailed to the administrators, with the page of the club', async () => {
    await name(anna!, new Date(NOW - DAY_MS))
    await ask()
    await sendAll()
    expect([sentTo(anna).length, sentTo(ben).length]).toEqual([1, 1])
    expect(sentTo(anna)[0]!.parts['text/plain']).toContain(`${issuer}/club?club=${club}`)
  })

  it('without a guardian is mailed to no administrator who has left', async () => {
    await db.membership.updateMany({ where: { personId: ben! }, data: { leftAt: new Date(NOW - 1) } })
    await ask()
    expect(await queuedFor()).toEqual([anna])
  })

  it('for more scopes is another mail, and nobody gets more than ten in 24 hours', async () => {
    await name(anna!)
    await ask()
    await ask()
    expect(await queuedFor()).toEqual([anna])
    for (let n = 0; n < MAILS_TO_ADMINISTRATOR + 2; n++) await ask([`scope ${n}`])
    expect(await queuedFor()).toHaveLength(MAILS_TO_ADMINISTRATOR)
    await ask(['scope tomorrow'], NOW + DAY_MS)
    expect(await queuedFor()).toHaveLength(MAILS_TO_ADMINISTRATOR + 1)
  })

  it.each<[string, () => Promise<unknown>]>([
    [
      'it is decided',
      () =>
        decideForChild(
          db,
          { child: member!, club: club!, app: app!, state: 'approved', reason: null, version: 1 },
          { person: ben!, as: 'guardian', at: new Date(NOW), ages },
        ),
    ],
    ['the guardian is removed', () => db.guardian.deleteMany({ where: { guardianId: anna! } })],
    ['the child is erased', () => db.person.delete({ where: { id: member! } })],
  ])('is not mailed once %s', async (_, change) => {
    for (const guardian of [anna!, ben!]) await name(guardian)
    await ask()
    await change()
    await sendAll()
    expect(sentTo(anna)).toEqual([])
  })

  it('is mailed to nobody who has switched these mails off', async () => {
    await name(ben!)
    await db.mailSettings.update({ where: { personId: ben! }, data: { off: ['guardianAsked'] } })
    await ask()
    expect(await queuedFor()).toEqual([])
  })
})
