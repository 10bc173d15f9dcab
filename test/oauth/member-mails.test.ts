import { beforeEach, describe, expect, it } from 'vitest'
import { MAILS_TO_MEMBER, queueMemberMail } from '../../routers/developer/mails/member-mails.ts'
import { CONSENT_MS } from '../../routers/kernel/access.ts'
import { DAY_MS } from '../../routers/kernel/time.ts'
import { languages } from '../../server/browser/language.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { words } from '../../server/browser/words/words.ts'
import { mailSender } from '../../server/mails/send.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { ownTenant } from '../support/own-tenant.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { started, startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { issuer, register, startAuthWorld } from './auth-world.ts'
import { offered } from './browser.ts'
import { deviceFlow } from './device-world.ts'
import { startMailServer } from './mail-server.ts'

const [profile, groups] = ['svc.me.profile:read', 'svc.me.groups:read'] as const
/** A database of their own: what sends mails sends all of them. */
let databaseUrl: string
const ends: (() => Promise<void>)[] = []
const auth = started(
  async () => {
    const own = await ownTenant((end) => ends.push(end))
    databaseUrl = own.databaseUrl
    return startAuthWorld({ ...own, memberMails: true })
  },
  async ({ world }) => {
    await world.close()
    for (const end of ends) await end()
  },
)
const without = startedAround(() => startAuthWorld({ databaseUrl, like: auth.world }))
const server = started(
  () => startMailServer(),
  ({ close }) => close(),
)

let client: string
let member: string
beforeEach(async () => {
  client = await register(auth.world, { appId: await mintApp(auth.world, { name: 'Kuchen <b>& Co' }), devices: true })
  member = await mintMember(auth.world)
  await auth.world.db.person.update({ where: { id: member }, data: { email: `${member}@example.org` } })
})

const toTokens = (scope: string, of = auth) => of.toTokens({ client, scope }, member)
const mails = () => auth.world.db.mail.findMany({ where: { personId: member }, orderBy: [{ createdAt: 'asc' }] })
const queued = async () => (await mails()).map(({ kind, about }) => [kind, (about as { isMore?: boolean }).isMore])
const GRANTED = ['accessGranted', false]
const withdraw = async () => {
  await auth.world.db.consent.updateMany({
    where: { personId: member },
    data: { withdrawnAt: new Date(auth.world.core.now()) },
  })
}
async function replay() {
  const { refresh_token } = await toTokens(profile)
  const renewed = await auth.refresh(client, refresh_token)
  await auth.refresh(client, renewed.json.refresh_token)
  return auth.refresh(client, refresh_token)
}
async function allowDevice(scope: string) {
  const device = deviceFlow(auth)
  const { user_code } = await device.begin(client, scope)
  const page = await device.allow(user_code, scope, member, auth.world.ids.club)
  expect(page.status).toBe(200)
}
const failed = (error: Error) => {
  throw error
}
const sendAll = async () => {
  const sendMail = createMailer(server.url, 'no-reply@example.org', 'Sportverein')
  const place = { issuer, words, brand: 'Sportverein' }
  while ((await mailSender({ sendMail, ...place, failed })(auth.world.db, auth.world.core.now())) > 0);
  return server.mailsTo(`${member}@example.org`)
}

describe('a mail to the member is queued', () => {
  it('when an app gets access, and when it gets more, but not for the same again or less', async () => {
    await toTokens(profile)
    expect(await queued()).toEqual([GRANTED])
    await toTokens(profile)
    expect(await queued()).toEqual([GRANTED])
    await toTokens(`${profile} ${groups}`)
    await toTokens(groups)
    expect(await queued()).toEqual([GRANTED, ['accessGranted', true]])
  })

  it('when it gets access again after a withdrawal, and for each of two clubs', async () => {
    await toTokens(profile)
    await withdraw()
    await toTokens(profile)
    const club = id('club')
    const memberships = { create: { personId: member } }
    await auth.world.db.organisation.create({ data: { id: club, kind: 'club', name: 'Second', memberships } })
    await auth.toTokens({ client, scope: profile }, member, club)
    expect(await queued()).toEqual([GRANTED, GRANTED, GRANTED])
  })

  it('when it gets access again after a year, as a consent ends then', async () => {
    await toTokens(profile)
    const createdAt = new Date(auth.world.core.now() - CONSENT_MS)
    await auth.world.db.consent.updateMany({ where: { personId: member }, data: { createdAt } })
    await toTokens(profile)
    expect(await queued()).toEqual([GRANTED, GRANTED])
  })

  it('not for a sign-in that skips the consent page', async () => {
    const { url } = auth.authorizeUrl({ client, scope: profile })
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, url, member)
    const fields = {
      organisation: auth.world.ids.club,
      shown: offered(page, 'shown'),
      scope: profile,
      decision: 'allow',
    }
    await browser.submit(page, 'consent', fields)
    const again = await auth.toConsent(auth.newBrowser(), auth.authorizeUrl({ client, scope: profile }).url, member)
    expect(again.location?.searchParams.has('code')).toBe(true)
    expect(await auth.world.db.consent.count({ where: { personId: member } })).toBe(2)
    expect(await queued()).toEqual([GRANTED])
  })

  it('when a device is allowed, each time, and no other one then', async () => {
    await allowDevice(profile)
    await allowDevice(profile)
    expect(await queued()).toEqual([
      ['deviceAllowed', false],
      ['deviceAllowed', false],
    ])
  })

  it('once when a replayed refresh token ends the access, however often and at once it is sent', async () => {
    expect((await replay()).status).toBe(400)
    await replay()
    const { refresh_token } = await toTokens(profile)
    const { json } = await auth.refresh(client, refresh_token)
    await auth.refresh(client, json.refresh_token)
    await Promise.all([1, 2, 3].map(() => auth.refresh(client, refresh_token)))
    const replayed = (await queued()).filter(([kind]) => kind === 'accessReplayed')
    expect(replayed).toHaveLength(3)
  })

  it('in the language of the page', async () => {
    const browser = auth.newBrowser()
    browser.language = 'nl'
    await auth.toTokens({ client, scope: profile }, member, auth.world.ids.club, browser)
    expect((await mails()).map(({ language }) => language)).toEqual(['nl'])
  })

  it('once by two consents at once', async () => {
    await meanwhile(
      auth.world.db,
      (tx) => tx.$executeRaw`SELECT FROM "Person" WHERE id = ${member} FOR NO KEY UPDATE`,
      () => Promise.all([toTokens(profile), toTokens(profile)]),
    )
    expect(await queued()).toEqual([GRANTED])
  })

  it('at most twenty times of a kind in 24 hours', async () => {
    const { refresh_token } = await toTokens(profile)
    const [consent] = await auth.world.db.consent.findMany({ where: { personId: member } })
    const of = { personId: member, organisationId: auth.world.ids.club, clientId: client, scopes: [] }
    const former = Array.from({ length: MAILS_TO_MEMBER - 1 }, () => ({ ...of, id: id('consent') }))
    await auth.world.db.consent.createMany({ data: former.map((one) => ({ ...one, withdrawnAt: new Date() })) })
    const createdAt = new Date(auth.world.core.now())
    const mail = {
      kind: 'accessGranted' as const,
      personId: member,
      language: 'en' as const,
      about: { name: 'A' },
      createdAt,
    }
    await auth.world.db.mail.createMany({ data: former.map((one) => ({ ...mail, id: one.id, consentId: one.id })) })
    await toTokens(`${profile} ${groups}`)
    expect(await queued()).toHaveLength(MAILS_TO_MEMBER)
    const { json } = await auth.refresh(client, refresh_token)
    await auth.refresh(client, json.refresh_token)
    await auth.refresh(client, refresh_token)
    const [replayed] = (await mails()).filter(({ kind }) => kind === 'accessReplayed')
    expect(replayed!.consentId).toBe(consent!.id)
    const aDayAgo = new Date(auth.world.core.now() - DAY_MS)
    await auth.world.db.mail.updateMany({ where: { personId: member }, data: { createdAt: aDayAgo } })
    await withdraw()
    await toTokens(profile)
    expect((await queued()).filter(([kind]) => kind === 'accessGranted')).toHaveLength(MAILS_TO_MEMBER + 1)
  })

  it('not for a sandbox client, whose members are invented', async () => {
    const { team, club } = auth.world.ids
    const sandbox = await register(auth.world, { environment: 'sandbox' })
    const memberships = { create: { personId: member } }
    const testClub = { id: id('club'), kind: 'club' as const, name: 'Test', testTeamId: team, memberships }
    await auth.world.db.organisation.create({ data: testClub })
    const browser = auth.newBrowser()
    const { url } = auth.authorizeUrl({ client: sandbox, scope: profile })
    const page = await auth.toConsent(browser, url, await mintMember(auth.world, club))
    const [organisation] = offered(page, 'organisation')
    await browser.submit(page, 'consent', { organisation: organisation!, scope: profile, decision: 'allow' })
    expect(await auth.world.db.consent.count({ where: { clientId: sandbox, personId: member } })).toBe(1)
    expect(await queued()).toEqual([])
  })

  it.each<[string, () => Promise<{ client?: string; club?: string }>]>([
    ['a client of the operator', async () => ({ client: await register(auth.world, { teamId: null, appId: null }) })],
    [
      'a test club',
      async () => {
        const club = id('club')
        const of = { kind: 'club' as const, name: 'Test', testTeamId: auth.world.ids.team }
        await auth.world.db.organisation.create({ data: { id: club, ...of } })
        return { club }
      },
    ],
  ])('not for %s', async (_, mint) => {
    const consent = await consentTo(auth.world, { client, member, scopes: [profile], ...(await mint()) })
    const at = auth.world.core.now()
    await auth.world.db.$transaction((tx) => queueMemberMail(tx, { kind: 'deviceAllowed', consent, at }))
    expect(await queued()).toEqual([])
  })

  it('not without MEMBER_MAILS', async () => {
    await toTokens(profile, without)
    expect(await auth.world.db.consent.count({ where: { personId: member } })).toBe(1)
    expect(await queued()).toEqual([])
  })
})

describe('as received', () => {
  it.each(languages)('it names app, team, club, scopes and where to remove the access, in %s', async (language) => {
    const browser = auth.newBrowser()
    browser.language = language
    await auth.toTokens({ client, scope: profile }, member, auth.world.ids.club, browser)
    const [mail, ...more] = await sendAll()
    expect(more).toEqual([])
    const w = words[language]
    const text = mail!.parts['text/plain']!.replaceAll('\r\n', '\n')
    for (const part of ['Kuchen <b>& Co', 'Team', 'Club', `- ${w.scopes[profile]}`, `${issuer}/connected`])
      expect(text).toContain(part)
    expect(mail!.headers.subject).toBe(w.mails.access.granted.subject.replace('{app}', 'Kuchen <b>& Co'))
    expect(text).toContain(w.mails.access.because)
    expect(text).not.toMatch(/\{\w+\}/)
    expect(mail!.parts['text/html']).toContain('Kuchen &lt;b&gt;&amp; Co')
    expect(mail!.parts['text/html']).toContain(`<html lang="${language}">`)
  })

  it('a replay says what happened, also as the consent is withdrawn then', async () => {
    await replay()
    const subjects = (await sendAll()).map(({ headers }) => headers.subject)
    expect(subjects).toEqual(['The access of Kuchen <b>& Co has ended'])
    expect(server.mailsTo(`${member}@example.org`)[0]!.parts['text/plain']).toContain('was used twice')
  })

  it('a device has its own words', async () => {
    await allowDevice(profile)
    expect((await sendAll()).map(({ headers }) => headers.subject)).toEqual([
      'A device can now use your data with Kuchen <b>& Co',
    ])
  })

  it('is not sent once the member has withdrawn, and goes with an erased member', async () => {
    await toTokens(profile)
    await withdraw()
    expect(await sendAll()).toEqual([])
    await toTokens(groups)
    await asPlatform(auth.world).directory.people.erase({ id: member })
    expect([await sendAll(), await mails()]).toEqual([[], []])
  })
})
