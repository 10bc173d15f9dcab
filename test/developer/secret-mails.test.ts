import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { ClientAuthentication } from '../../prisma/generated/client.ts'
import { removeExpiredSecrets } from '../../routers/developer/retention.ts'
import { raiseSecretAlarms } from '../../routers/developer/secrets/alarms.ts'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { words } from '../../server/browser/words/words.ts'
import { mailSender } from '../../server/mails/send.ts'
import { startMailServer } from '../oauth/mail-server.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const issuer = 'https://auth.example/v1/oauth'
const DAY_MS = 86_400_000
const END = Date.parse('2026-12-09T12:00:00Z')
const days = (count: number, ms = 0) => END + count * DAY_MS + ms

const server = started(
  () => startMailServer(),
  ({ close }) => close(),
)

let db: Database
let [team, app, anna, ben]: string[] = []
beforeEach(async () => {
  const queue = await startQueue()
  ;({ db, team, app } = { ...queue, team: (await queue.db.app.findUniqueOrThrow({ where: { id: queue.app } })).teamId })
  ;[anna, ben] = [id('anna'), id('ben')]
  await db.person.createMany({
    data: [anna!, ben!].map((one) => ({ id: one, firstName: 'Dev', lastName: 'Dev', email: `${one}@example.org` })),
  })
  await db.teamMember.createMany({
    data: [
      { teamId: team!, personId: anna!, role: 'owner' },
      { teamId: team!, personId: ben!, role: 'developer' },
    ],
  })
  await db.mailSettings.create({ data: { personId: ben!, language: 'de' } })
})

async function addClient(authentication: ClientAuthentication = 'client_secret') {
  const of = { teamId: team!, appId: app!, environment: 'production' as const }
  const data = { id: id('client'), name: 'Trainer <web>', ...of, redirectUris: [], scopes: [], authentication }
  return (await db.client.create({ data })).id
}
async function addSecret(clientId: string, expiresAt = END) {
  const times = { createdAt: new Date(expiresAt - 90 * DAY_MS), expiresAt: new Date(expiresAt) }
  const data = { id: id('secret'), clientId, hash: hashOfSecret(newClientSecret()), ...times }
  return (await db.clientSecret.create({ data })).id
}
const queued = () => db.mail.findMany({ where: { teamId: team! }, orderBy: { createdAt: 'asc' } })
const raise = (now: number) => raiseSecretAlarms(db, now)

describe('a secret about to expire', () => {
  it('is mailed 14 days before and once it has expired, each once, to each person of the team', async () => {
    const client = await addClient()
    await addSecret(client)
    expect([
      await raise(days(-14, -1)),
      await raise(days(-14)),
      await raise(days(-13)),
      await raise(days(0, -1)),
    ]).toEqual([0, 1, 0, 0])
    const about = { client, name: 'Trainer <web>', expiresAt: END / 1000 }
    expect((await queued()).map((mail) => [mail.kind, mail.personId, mail.about])).toEqual(
      expect.arrayContaining([
        ['secretExpiring', anna, { ...about, isExpired: false }],
        ['secretExpiring', ben, { ...about, isExpired: false }],
      ]),
    )
    expect([await raise(END), await raise(days(1))]).toEqual([1, 0])
    expect((await queued()).map((mail) => (mail.about as { isExpired: boolean }).isExpired).sort()).toEqual([
      ...[false, false],
      ...[true, true],
    ])
  })

  it('is mailed once by several processes at a time', async () => {
    await addSecret(await addClient())
    const raised = await Promise.all(Array.from({ length: 4 }, () => raise(days(-1))))
    expect(raised.toSorted()).toEqual([0, 0, 0, 1])
    expect(await queued()).toHaveLength(2)
  })

  it('is not mailed when another secret of its client is valid longer, until that one expires', async () => {
    const client = await addClient()
    await addSecret(client)
    const longer = await addSecret(client, days(60))
    await addSecret(await addClient(), days(90))
    expect([await raise(days(-1)), await raise(days(1))]).toEqual([0, 0])
    expect([await raise(days(46)), await raise(days(60))]).toEqual([1, 1])
    await db.clientSecret.delete({ where: { id: longer } })
    expect(await raise(days(61))).toBe(1)
  })

  it('is mailed as expired alone when nobody looked before', async () => {
    await addSecret(await addClient())
    expect([await raise(days(2)), await raise(days(3))]).toEqual([1, 0])
    expect(await queued()).toMatchObject([{ about: { isExpired: true } }, { about: { isExpired: true } }])
  })

  it.each(['none', 'private_key_jwt'] as const)('is not mailed for a client of %s', async (authentication) => {
    await addSecret(await addClient(authentication))
    expect([await raise(days(-1)), await queued()]).toEqual([0, []])
  })

  it('is not mailed to who has switched the kind off', async () => {
    await db.mailSettings.update({ where: { personId: ben! }, data: { off: ['secretExpiring'] } })
    await addSecret(await addClient())
    expect(await raise(days(-1))).toBe(1)
    expect(await queued()).toMatchObject([{ personId: anna }])
  })

  it('is sent in the language of each person, with the page of the client', async () => {
    const sendMail = createMailer(server.url, 'no-reply@example.org', 'Sportverein')
    const failed = (error: Error) => {
      throw error
    }
    const send = (now: number) => mailSender({ sendMail, issuer, words, brand: 'Sportverein', failed })(db, now)
    const client = await addClient()
    await addSecret(client)
    await raise(days(-14))
    expect([await send(days(-14)), await send(days(-14)), await send(days(-14))]).toEqual([1, 1, 0])
    await raise(END)
    expect([await send(END), await send(END)]).toEqual([1, 1])
    const [en, de] = [anna, ben].map((person) => server.mailsTo(`${person}@example.org`))
    expect(en!.map(({ headers }) => headers.subject)).toEqual([
      'Client secret expires on 9 December 2026: Trainer <web>',
      'Client secret expired: Trainer <web>',
    ])
    expect(de!.map(({ headers }) => headers.subject)).toEqual([
      'Client-Secret läuft am 9. Dezember 2026 ab: Trainer <web>',
      'Client-Secret abgelaufen: Trainer <web>',
    ])
    for (const { parts } of [...en!, ...de!]) {
      expect(parts['text/plain']).toContain(`${issuer}/developers/teams/${team}/clients/${client}`)
      expect(parts['text/html']).not.toContain('<web>')
    }
  })
})

it('expired secrets are removed after 30 days, and others stay', async () => {
  const client = await addClient()
  const [old, young, valid] = [
    await addSecret(client),
    await addSecret(client, days(0, 1)),
    await addSecret(client, days(31)),
  ]
  expect([await removeExpiredSecrets(db, days(30)), await removeExpiredSecrets(db, days(30))]).toEqual([1, 0])
  const left = await db.clientSecret.findMany({ where: { clientId: client } })
  expect(left.map((one) => one.id).toSorted()).toEqual([young, valid].toSorted())
  expect(left.map((one) => one.id)).not.toContain(old)
})
