import { beforeEach, describe, expect, it } from 'vitest'
import { holdChildApproval, requestForChild } from '../../routers/approvals/child-requests.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { authWorld, issuer, register, startAuthWorld } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered } from './browser.ts'
import { deviceFlow } from './device-world.ts'

const [profile, groups] = ['svc.me.profile:read', 'svc.me.groups:read']
/** With CONSENT_AGE, with CLUB_APPROVAL too, and without both. */
const consentAges = new Map([
  ['', 16],
  ['AT', 14],
])
const here = authWorld({ consentAges })
const both = startedAround(() => startAuthWorld({ like: here.world, consentAges, clubApproval: true }))
const without = startedAround(() => startAuthWorld({ like: here.world }))
const [family, clubs] = [`${issuer}/family`, `${issuer}/club`]

let app: string
let client: string
let club: string
let child: string
let guardian: string
beforeEach(async () => {
  app = await mintApp(here.world, { name: 'Kuchen & Co' })
  const purpose = { [profile]: 'To greet <b>you</b>.' }
  client = await register(here.world, { appId: app, scopes: [profile, groups, 'openid'], purpose })
  club = await addClub()
  child = await mintMember(here.world, club)
  await born(14)
  guardian = await mintGuardian()
})

const db = () => here.world.db
async function addClub(country: string | null = null) {
  const own = id('club')
  await db().organisation.create({ data: { id: own, kind: 'club', name: own, country } })
  return own
}
/** So many years before today, and days after that. */
async function born(years: number, days = 0) {
  const day = new Date(here.world.core.now() + days * 86_400_000)
  day.setUTCFullYear(day.getUTCFullYear() - years)
  await db().person.update({ where: { id: child }, data: { birthday: day } })
}
async function mintGuardian(until: Date | null = null, childId = child) {
  const guardianId = id('guardian')
  await db().person.create({ data: { id: guardianId, firstName: 'Gio', lastName: 'G', email: '' } })
  await db().guardian.create({ data: { childId, guardianId, until } })
  return guardianId
}
const makeAdministrator = async (organisationId = club) => {
  const personId = await mintMember(here.world, organisationId)
  const of = { personId, organisationId }
  await db().membership.upsert({
    where: { of },
    create: { ...of, administrator: true },
    update: { administrator: true },
  })
  return personId
}

const row = () => db().childRequest.findFirst({ where: { childId: child, appId: app } })
const inForce = () => db().consent.count({ where: { personId: child, client: { appId: app }, withdrawnAt: null } })

async function atConsent(scope = profile, at = here, of = client) {
  const browser = at.newBrowser()
  const page = await at.toConsent(browser, at.authorizeUrl({ client: of, scope }).url, child)
  const submit = (fields: Record<string, string | string[]>) => browser.submit(page, 'consent', fields)
  const allow = () => submit({ organisation: club, scope: scope.split(' '), decision: 'allow' })
  return { page, submit, allow, ask: () => submit({ ask: club }) }
}
const mayAllow = (page: Page) => offered(page, 'decision').includes('allow')
/** As the consent page does. */
const ask = () =>
  requestForChild(db(), { child, club, app }, [profile], here.world.core.now(), { person: child, language: 'en' })

async function signedIn(person = guardian, at = family, node = here): Promise<Browser> {
  const browser = node.newBrowser()
  await browser.submit(await browser.open(at), 'pick', { member: person })
  return browser
}
/** As the forms of the page send it. */
const decide = async (browser: Browser, act: 'approve' | 'refuse' | 'withdraw', more = {}, at = family) => {
  const version = String((await row())?.version ?? 0)
  return browser.post(`${at}/${act}`, { child, club, app, version, ...more })
}

describe('a member below the age', () => {
  it('sees why, asks once, and the app gets access_denied as from any member who refuses', async () => {
    const { page, submit, ask } = await atConsent()
    expect([page.status, mayAllow(page), offered(page, 'ask')]).toEqual([200, false, [club]])
    expect(page.text).toContain('needs a parent’s or guardian’s approval')
    expect(await row()).toBeNull()
    for (const asked of [await ask(), await ask()]) {
      expect([asked.status, offered(asked, 'ask')]).toEqual([200, []])
      expect(asked.text).toContain('have been asked')
    }
    expect(await row()).toMatchObject({ state: 'requested', scopes: [profile], covered: [], version: 1 })
    expect(await db().mail.count({ where: { administratorId: guardian } })).toBe(1)
    const back = await submit({ decision: 'refuse' })
    expect(Object.fromEntries(back.location!.searchParams)).toMatchObject({
      error: 'access_denied',
      error_description: 'the member refused',
    })
  })

  it.each<[string, string | null, () => Promise<unknown>, boolean]>([
    ['of 15 years and 364 days', null, () => born(16, 1), false],
    ['whose 16th birthday is today', null, () => born(16), true],
    ['of 14 years in a country of 14', 'AT', () => born(14), true],
    ['of 13 years in a country of 14', 'AT', () => born(14, 1), false],
    ['of 14 years in another country', 'DE', () => born(14), false],
    ['without a birthday', 'AT', () => db().person.update({ where: { id: child }, data: { birthday: null } }), false],
  ])('is one %s; the club is in %s', async (_, country, change, allows) => {
    await db().organisation.update({ where: { id: club }, data: { country } })
    await change()
    expect(mayAllow((await atConsent()).page)).toBe(allows)
  })

  it('cannot allow an app by sending the form, nor one of no app, and an academy is no way around', async () => {
    const { academy: organisationId } = here.world.ids
    await db().membership.create({ data: { organisationId, personId: child } })
    const alone = await register(here.world, { appId: null, scopes: ['openid', profile] })
    for (const of of [client, alone]) {
      const { page, submit } = await atConsent('openid', here, of)
      expect(mayAllow(page)).toBe(false)
      for (const organisation of [club, organisationId]) {
        await submit({ organisation, scope: 'openid', decision: 'allow' })
      }
    }
    expect(await db().consent.count({ where: { personId: child } })).toBe(0)
  })

  it('asks no other organisation, and nobody asks from another site', async () => {
    const other = await addClub()
    const { page, submit } = await atConsent()
    for (const one of [other, 'a\0b', '']) expect((await submit({ ask: one })).status).toBe(200)
    const url = new URL(/action="([^"]+\/consent)"/.exec(page.text)![1]!, page.url)
    const forged = await here.newBrowser().post(url, { ask: club }, { origin: 'https://evil.example' })
    expect([forged.status, await row()]).toEqual([403, null])
  })

  it('asks on a device too, which is not allowed by sending the form', async () => {
    const devices = deviceFlow(here)
    const device = await register(here.world, { appId: app, devices: true, redirectUris: [] })
    const { user_code, device_code } = await devices.begin(device, profile)
    const [page, browser] = await devices.toDecision(user_code, child)
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([false, [club]])
    const decide = (fields: Record<string, string>) => devices.decideOn(page, browser, fields)
    expect((await decide({ organisation: club, scope: profile, decision: 'allow' })).status).toBe(400)
    expect((await decide({ ask: club })).text).toContain('have been asked')
    expect(await devices.poll(device, device_code)).toMatchObject({ json: { error: 'authorization_pending' } })
    expect([(await row())?.state, await inForce()]).toEqual(['requested', 0])
  })

  it('needs nobody for a sandbox client, whose members are invented', async () => {
    const sandbox = await register(here.world, { appId: app, environment: 'sandbox' })
    const memberships = { create: { personId: await mintMember(here.world) } }
    const of = { kind: 'club' as const, name: 'Test', testTeamId: here.world.ids.team }
    await db().organisation.create({ data: { id: id('test'), ...of, memberships } })
    expect(mayAllow((await atConsent(profile, here, sandbox)).page)).toBe(true)
  })

  it('needs nobody without CONSENT_AGE, where there is no page and nobody to ask', async () => {
    const { page, submit } = await atConsent(profile, without)
    expect([mayAllow(page), (await submit({ ask: club })).status]).toEqual([true, 400])
    const browser = without.newBrowser()
    await browser.submit(await browser.open(`${issuer}/connected`), 'pick', { member: guardian })
    for (const at of [family, clubs]) expect((await browser.get(at)).status).toBe(404)
  })
})

describe('an approval', () => {
  it('takes one tap, and its end ends the access within 5 s', async () => {
    await ask()
    const browser = await signedIn()
    const page = await browser.open(family)
    for (const text of ['Kuchen &amp; Co', 'To greet &lt;b&gt;you&lt;/b&gt;.', 'the child has asked']) {
      expect(page.text).toContain(text)
    }
    const approved = await browser.submit(page, 'approve', { child, club, app, version: '1' })
    expect(approved.text).toContain('can now allow')
    expect(await row()).toMatchObject({ state: 'approved', covered: [profile], decidedBy: guardian, version: 2 })
    const tokens = await here.toTokens({ client, scope: profile }, child, club)
    expect(await here.profileStatus(tokens.access_token)).toBe(200)
    const asked = await browser.open(`${family}/remove?${new URLSearchParams({ child, club, app })}`)
    expect(asked.text).toContain('Remove access for')
    const ended = await reportingDue(here.world.core, () =>
      browser.submit(asked, 'withdraw', { child, club, app, version: '2' }),
    )
    expect([ended.status, await inForce()]).toEqual([200, 0])
    here.world.advance(5)
    expect(await here.profileStatus(tokens.access_token)).toBe(401)
    expect(mayAllow((await atConsent()).page)).toBe(false)
    expect(await db().auditEntry.count({ where: { target: app } })).toBe(0)
    await decide(browser, 'approve')
    expect(mayAllow((await atConsent()).page)).toBe(true)
  })

  it('covers what was asked for: more needs another one, and the consent stays', async () => {
    await ask()
    const browser = await signedIn()
    await decide(browser, 'approve')
    const { page, allow } = await atConsent()
    expect(mayAllow(page)).toBe(true)
    expect((await allow()).location?.searchParams.get('code')).toBeTruthy()
    const more = await atConsent(`${profile} ${groups}`)
    expect(mayAllow(more.page)).toBe(false)
    await more.ask()
    expect(await row()).toMatchObject({ state: 'requested', covered: [profile], version: 3 })
    expect((await row())?.scopes.toSorted()).toEqual([groups, profile])
    expect([await inForce(), mayAllow((await atConsent()).page)]).toEqual([1, true])
    // The child asks for more than this form has.
    expect((await decide(browser, 'approve', { version: '1' })).status).toBe(409)
    await decide(browser, 'approve')
    expect(mayAllow((await atConsent(`${profile} ${groups}`)).page)).toBe(true)
    expect(await db().mail.count({ where: { administratorId: guardian } })).toBe(2)
  })

  it('that is refused tells the child why, who cannot ask again', async () => {
    await ask()
    const browser = await signedIn()
    expect((await decide(browser, 'refuse', { reason: 'x'.repeat(501) })).status).toBe(400)
    expect((await row())?.state).toBe('requested')
    await decide(browser, 'refuse', { reason: 'Not <b>yet</b>.' })
    const { page } = await atConsent()
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([false, []])
    expect(page.text).toContain('Not &lt;b&gt;yet&lt;/b&gt;.')
    await ask()
    expect(await row()).toMatchObject({ state: 'refused', reason: 'Not <b>yet</b>.', decidedBy: guardian })
  })

  it('that cannot be refused for a reason shows the reason again', async () => {
    await ask()
    const browser = await signedIn()
    const refused = await decide(browser, 'refuse', { reason: 'Not "yet"\u202e' })
    expect([refused.status, offered(refused, 'reason')]).toEqual([400, ['Not &quot;yet&quot;\u202e']])
    const late = await decide(browser, 'refuse', { version: '0', reason: 'Too late.' })
    expect([late.status, offered(late, 'reason')]).toEqual([409, ['Too late.']])
    expect(await row()).toMatchObject({ state: 'requested', version: 1 })
  })

  it('does not end with the need, which ends with the birthday', async () => {
    await ask()
    await decide(await signedIn(), 'approve')
    await (await atConsent()).allow()
    await born(16)
    expect([await inForce(), mayAllow((await atConsent(`${profile} ${groups}`)).page)]).toEqual([1, true])
    // A guardian of one who is of age sees nothing more of them.
    const browser = await signedIn()
    expect((await browser.open(family)).text).not.toContain('Kuchen')
    expect((await decide(browser, 'withdraw')).status).toBe(404)
    expect(await inForce()).toBe(1)
  })

  it('of a child who has come of age is not asked about, nor the approval of the club in its place', async () => {
    await db().guardian.deleteMany({ where: { childId: child } })
    await asPlatform(here.world).directory.approvals.set({ club, app, state: 'approved' })
    await ask()
    const browser = await signedIn(await makeAdministrator(), clubs, both)
    const remove = `${clubs}/remove?${new URLSearchParams({ club, app, child })}`
    expect((await browser.open(remove)).text).toContain('Remove access for')
    await born(16)
    const answer = await browser.get(remove)
    expect([answer.status, answer.location?.href]).toEqual([303, `${clubs}?${new URLSearchParams({ club })}`])
  })

  it('of the club is needed too, with CLUB_APPROVAL', async () => {
    await ask()
    await decide(await signedIn(), 'approve')
    const { page, submit } = await atConsent(profile, both)
    expect([mayAllow(page), page.text.includes('needs your club’s approval')]).toEqual([false, true])
    await submit({ organisation: club, scope: profile, decision: 'allow' })
    expect(await inForce()).toBe(0)
    await asPlatform(here.world).directory.approvals.set({ club, app, state: 'approved' })
    expect(mayAllow((await atConsent(profile, both)).page)).toBe(true)
  })
})

describe('children and clubs of one name', () => {
  const path = (of: object) => new URLSearchParams({ child, club, app, ...of })
  /** Another child of 12 years, with a request in a club of the same name. */
  async function mintNamesake() {
    const [other, elsewhere] = [await mintMember(here.world, await addClub()), await addClub()]
    await db().membership.create({ data: { organisationId: elsewhere, personId: other } })
    await db().organisation.update({ where: { id: elsewhere }, data: { name: club } })
    const birthday = new Date(here.world.core.now())
    birthday.setUTCFullYear(birthday.getUTCFullYear() - 12)
    const named = { firstName: 'Lea', lastName: 'Müller' }
    await db().person.update({ where: { id: child }, data: named })
    await db().person.update({ where: { id: other }, data: { ...named, birthday } })
    const asker = { person: other, language: 'en' as const }
    const asked = (organisation: string) =>
      requestForChild(db(), { child: other, club: organisation, app }, [profile], here.world.core.now(), asker)
    return { other, elsewhere, asked, year: birthday.getUTCFullYear() }
  }

  it('are distinguished on the page of a guardian, and where access is removed', async () => {
    const { other, elsewhere, asked, year } = await mintNamesake()
    await db().guardian.create({ data: { childId: other, guardianId: guardian } })
    await ask()
    await asked(elsewhere)
    const browser = await signedIn()
    const { text } = await browser.open(family)
    for (const label of [`Lea Müller (${year - 2})`, `Lea Müller (${year})`, `${club} (${elsewhere})`]) {
      expect(text).toContain(label)
    }
    const asking = await browser.open(`${family}/remove?${path({ child: other, club: elsewhere })}`)
    expect(asking.text).toContain(`Lea Müller (${year})`)
    expect(asking.text).toContain(`${club} (${elsewhere})`)
  })

  it('are distinguished on the page of a club', async () => {
    const { other, asked, year } = await mintNamesake()
    await db().guardian.deleteMany({ where: { childId: child } })
    await db().membership.create({ data: { organisationId: club, personId: other } })
    await ask()
    await asked(club)
    const browser = await signedIn(await makeAdministrator(), clubs)
    const { text } = await browser.open(`${clubs}?${new URLSearchParams({ club })}`)
    for (const label of [`Lea Müller (${year - 2})`, `Lea Müller (${year})`]) expect(text).toContain(label)
    const asking = await browser.open(`${clubs}/remove?${path({ child: other })}`)
    expect(asking.text).toContain(`Lea Müller (${year})`)
  })
})

describe('a consent from before CONSENT_AGE', () => {
  it('stays, skips the page, and is ended by a guardian, who has to approve the next one', async () => {
    const { page: allowed, submit } = await atConsent(profile, without)
    await submit({ organisation: club, shown: offered(allowed, 'shown'), scope: profile, decision: 'allow' })
    const again = here.newBrowser()
    await again.submit(await again.open(`${issuer}/connected`), 'pick', { member: child })
    const skipped = await again.get(here.authorizeUrl({ client, scope: profile }).url)
    expect(skipped.location?.searchParams.get('code')).toBeTruthy()
    const browser = await signedIn()
    const page = await browser.open(family)
    expect([page.text.includes('in use, not decided yet'), offered(page, 'version')]).toEqual([true, ['0']])
    for (const act of ['approve', 'refuse'] as const) expect((await decide(browser, act)).status).toBe(409)
    expect((await decide(browser, 'withdraw')).status).toBe(200)
    expect([await inForce(), (await row())?.state]).toEqual([0, 'withdrawn'])
    expect((await decide(browser, 'withdraw')).status).toBe(409)
    expect(mayAllow((await atConsent()).page)).toBe(false)
  })
})

describe('nobody else decides', () => {
  const people: [string, () => Promise<string>][] = [
    ['the child', async () => child],
    ['a guardian of another child', async () => mintGuardian(null, await mintMember(here.world))],
    ['a guardian until yesterday', () => mintGuardian(new Date(here.world.core.now() - 86_400_000))],
    ['an administrator of the club, as there is a guardian', () => makeAdministrator()],
    ['a member', () => mintMember(here.world)],
  ]
  it.each(people)('%s', async (_, mint) => {
    await consentTo(here.world, { client, member: child, scopes: [groups] })
    await ask()
    const browser = await signedIn(await mint())
    for (const act of ['approve', 'refuse', 'withdraw'] as const) {
      expect((await decide(browser, act)).status).toBe(404)
      expect((await decide(browser, act, {}, clubs)).status).toBe(404)
    }
    const { text } = await browser.open(family)
    expect(text).not.toContain(child)
    expect([(await row())?.state, (await row())?.version, await inForce()]).toEqual(['requested', 1, 1])
  })

  it('for a child, club or app that a guardian names wrongly', async () => {
    await ask()
    const other = await mintMember(here.world)
    const browser = await signedIn()
    for (const forged of [
      { child: other },
      { child: '' },
      { child: 'a\0b' },
      { club: here.world.ids.academy },
      { app: 'none' },
    ])
      expect((await decide(browser, 'approve', forged)).status).toBe(404)
    for (const version of ['', '2', 'x', '1.5'])
      expect((await decide(browser, 'approve', { version })).status).toBe(409)
    expect((await row())?.state).toBe('requested')
  })

  it('nobody who is signed out, and no other site', async () => {
    await ask()
    expect((await decide(here.newBrowser(), 'approve')).location?.href).toBe(family)
    const browser = await signedIn()
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }, { origin: 'null' }]) {
      for (const step of ['approve', 'refuse', 'withdraw', 'sign-out']) {
        expect((await browser.post(`${family}/${step}`, { child, club, app, version: '1' }, headers)).status).toBe(403)
      }
    }
    expect((await row())?.state).toBe('requested')
    await browser.post(`${family}/sign-out`, {})
    expect((await browser.open(family)).text).toContain('and see the apps of your children')
  })

  it('more than 30 times a minute', async () => {
    await ask()
    const browser = await signedIn()
    const answers = []
    for (let n = 0; n < 30; n++) answers.push((await decide(browser, 'approve', { child: 'unknown' })).status)
    answers.push((await decide(browser, 'approve')).status)
    expect([answers, (await row())?.state]).toEqual([[...Array(30).fill(404), 429], 'requested'])
  })
})

describe('at once', () => {
  it('a guardian who is removed decides nothing, and loses the page', async () => {
    await ask()
    const browser = await signedIn()
    const of = { childId: child, guardianId: guardian }
    const late = await meanwhile(
      db(),
      (tx) => tx.guardian.delete({ where: { of } }),
      () => decide(browser, 'approve'),
    )
    expect([late.status, (await row())?.state, (await browser.get(family)).status]).toEqual([404, 'requested', 403])
  })

  it('a guardian decides on their last day, and not on the next one', async () => {
    await ask()
    const today = new Date(here.world.core.now())
    await db().guardian.updateMany({ where: { guardianId: guardian }, data: { until: today } })
    const browser = await signedIn()
    expect((await decide(browser, 'approve')).status).toBe(200)
    await db().guardian.updateMany({ where: { guardianId: guardian }, data: { until: new Date(+today - 86_400_000) } })
    expect([(await browser.get(family)).status, (await decide(browser, 'withdraw')).status]).toEqual([403, 404])
    expect((await row())?.state).toBe('approved')
  })

  it('the first of two guardians decides, and the other one sees it', async () => {
    await ask()
    const [first, second] = [await signedIn(), await signedIn(await mintGuardian())]
    const answers = await Promise.all([
      decide(first, 'approve', { version: '1' }),
      decide(second, 'refuse', { version: '1' }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const lost = answers.find(({ status }) => status === 409)!
    expect(lost.text).toContain('Somebody has decided otherwise in the meantime.')
    expect((await row())?.version).toBe(2)
  })

  it.each([
    ['approve', {}],
    ['refuse', { reason: 'Not yet.' }],
  ] as const)(
    'the same guardian taps %s twice: the second one changes nothing, and is no refusal',
    async (act, more) => {
      await ask()
      const browser = await signedIn()
      for (let tap = 0; tap < 2; tap++) {
        const { status, text } = await decide(browser, act, { version: '1', ...more })
        expect([status, text.includes('role="status"'), text.includes('decided otherwise')]).toEqual([200, true, false])
      }
      expect(await row()).toMatchObject({ decidedBy: guardian, version: 2 })
    },
  )

  it('two taps at once are one decision, also where nothing was asked', async () => {
    await consentTo(here.world, { client, member: child, club, scopes: [profile] })
    const browser = await signedIn()
    const taps = await Promise.all([1, 2].map(() => decide(browser, 'withdraw', { version: '0' })))
    expect(taps.map(({ status }) => status)).toEqual([200, 200])
    expect([await inForce(), await row()]).toMatchObject([0, { state: 'withdrawn', version: 1 }])
  })

  it('a tap that waits for the first one changes nothing, and is no refusal', async () => {
    await ask()
    const browser = await signedIn()
    const decidedAt = new Date(here.world.core.now())
    const approved = { state: 'approved' as const, covered: [profile], decidedAt, decidedBy: guardian, version: 2 }
    const second = await meanwhile(
      db(),
      (tx) => tx.childRequest.updateMany({ where: { appId: app }, data: approved }),
      () => decide(browser, 'approve', { version: '1' }),
    )
    expect([second.status, (await row())?.version]).toEqual([200, 2])
  })

  it.each([
    ['of another guardian', async () => signedIn(await mintGuardian()), {}],
    ['with another reason', () => signedIn(), { reason: 'Never.' }],
  ])('a tap %s, after the first one, is refused', async (_, browser, more) => {
    await ask()
    await decide(await signedIn(), 'refuse', { version: '1', reason: 'Not yet.' })
    const late = await decide(await browser(), 'refuse', { version: '1', reason: 'Not yet.', ...more })
    expect([late.status, await row()]).toMatchObject([409, { reason: 'Not yet.', decidedBy: guardian, version: 2 }])
  })

  it('a decision waits for another one that is being stored, and changes nothing', async () => {
    await ask()
    const browser = await signedIn()
    const decidedAt = new Date(here.world.core.now())
    const refused = { state: 'refused' as const, decidedAt, decidedBy: guardian, version: 2 }
    const late = await meanwhile(
      db(),
      (tx) => tx.childRequest.updateMany({ where: { appId: app }, data: refused }),
      () => decide(browser, 'approve', { version: '1' }),
    )
    expect([late.status, await row()]).toMatchObject([409, { state: 'refused', covered: [], version: 2 }])
  })

  it('an approval that is being withdrawn lets no consent through', async () => {
    await ask()
    await decide(await signedIn(), 'approve')
    const { allow } = await atConsent()
    const refused = await meanwhile(
      db(),
      (tx) => tx.childRequest.updateMany({ where: { appId: app }, data: { state: 'withdrawn', covered: [] } }),
      allow,
    )
    expect([refused.status, mayAllow(refused), await inForce()]).toEqual([400, false, 0])
  })

  it('a withdrawal waits for a consent that is being given, and ends it', async () => {
    await ask()
    const browser = await signedIn()
    await decide(browser, 'approve')
    await meanwhile(
      db(),
      async (tx) => {
        expect(await holdChildApproval(tx, { child, club, app }, [groups])).toBe(false)
        expect(await holdChildApproval(tx, { child, club, app }, [profile])).toBe(true)
        const of = { clientId: client, personId: child, organisationId: club }
        await tx.consent.create({ data: { id: id('consent'), ...of, scopes: [profile] } })
      },
      () => decide(browser, 'withdraw'),
    )
    expect([await inForce(), (await row())?.state]).toEqual([0, 'withdrawn'])
  })
})

describe('without a guardian', () => {
  it('an administrator of the club decides, from when the last one is gone until there is one', async () => {
    await ask()
    const administrator = await makeAdministrator()
    const browser = await signedIn(administrator, clubs)
    expect(offered(await browser.open(clubs), 'child')).toEqual([])
    await db().guardian.deleteMany({ where: { childId: child } })
    const page = await browser.open(clubs)
    expect([new Set(offered(page, 'child')), page.text.includes('nobody is named as their guardian')]).toEqual([
      new Set([child]),
      true,
    ])
    expect((await decide(browser, 'approve', {}, clubs)).status).toBe(200)
    expect(await row()).toMatchObject({ state: 'approved', decidedBy: administrator })
    await (await atConsent()).allow()
    const asked = await browser.open(`${clubs}/remove?${new URLSearchParams({ child, club, app })}`)
    expect(asked.text).toContain('Remove access for')
    guardian = await mintGuardian()
    expect((await decide(browser, 'withdraw', {}, clubs)).status).toBe(404)
    await decide(await signedIn(), 'withdraw')
    expect(await inForce()).toBe(0)
  })

  it('an administrator who keeps the access returns to the page of its club', async () => {
    await db().guardian.deleteMany({ where: { childId: child } })
    await ask()
    const browser = await signedIn(await makeAdministrator(), clubs)
    await decide(browser, 'approve', {}, clubs)
    const asked = await browser.open(`${clubs}/remove?${new URLSearchParams({ child, club, app, page: '1' })}`)
    const to = (step: string) => `/v1/oauth/club${step}?${new URLSearchParams({ club })}&amp;page=1`
    for (const address of [`href="${to('')}"`, `action="${to('/withdraw')}"`]) expect(asked.text).toContain(address)
  })

  it('the club is asked, whose administrator decides for other members alone', async () => {
    await db().guardian.deleteMany({ where: { childId: child } })
    const other = await addClub()
    const [own, stranger] = [await makeAdministrator(), await makeAdministrator(other)]
    await db().membership.updateMany({ where: { personId: child }, data: { administrator: true } })
    const { page } = await atConsent()
    expect([page.text.includes('needs your club’s approval'), offered(page, 'ask')]).toEqual([true, [club]])
    await ask()
    const mailed = await db().mail.findMany({ where: { childRequestId: (await row())!.id } })
    expect(mailed.map(({ administratorId }) => administratorId)).toEqual([own])
    for (const person of [child, stranger]) {
      const browser = await signedIn(person, clubs)
      expect((await decide(browser, 'approve', {}, clubs)).status).toBe(404)
    }
    expect((await row())?.state).toBe('requested')
  })
})
