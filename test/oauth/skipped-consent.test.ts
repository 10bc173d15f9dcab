import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Prisma } from '../../prisma/generated/client.ts'
import { CONSENT_MS } from '../../routers/kernel/access.ts'
import { mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import type { Tokens } from './auth-world.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered } from './browser.ts'
import { deviceFlow } from './device-world.ts'
import { addCopies } from './more-consents.ts'

const [profile, groups, results] = ['svc.me.profile:read', 'svc.me.groups:read', 'svc.me.competitions:read'] as const
const scope = `${profile} ${groups}`
const purpose = { [profile]: 'To greet you.', [groups]: 'To sort plans.' }

const auth = authWorld({ clubApproval: true })

let app: string
let client: string
let member: string
beforeEach(async () => {
  app = await mintApp(auth.world, { name: 'Plans', homepage: 'https://plans.example/' })
  client = await register(auth.world, { appId: app, purpose })
  member = await mintMember(auth.world)
  await approve()
})

const decide = (state: 'approved' | 'withdrawn', club = auth.world.ids.club) =>
  asPlatform(auth.world).directory.approvals.set({ club, app, state })
const approve = () => decide('approved')
const consents = () =>
  auth.world.db.consent.findMany({ where: { clientId: client, personId: member }, orderBy: { basis: 'asc' } })
const skipped = async () => (await consents()).filter(({ basis }) => basis !== null)

interface Options {
  asked?: string
  more?: Record<string, string>
  of?: string
  person?: string
  browser?: Browser
}

/** Opens an app's request, and signs the member in. */
async function open({
  asked = scope,
  more = {},
  of = client,
  person = member,
  browser = auth.newBrowser(),
}: Options = {}) {
  const { url, verifier } = auth.authorizeUrl({ client: of, scope: asked, more })
  const page = await auth.toConsent(browser, url, person)
  return { page, browser, verifier, code: page.location?.searchParams.get('code') ?? null }
}

/** Allows what the page asks for, as a browser sends its form. */
async function allow(options: Options = {}, ticked = (options.asked ?? scope).split(' ')) {
  const { page, browser, verifier, code } = await open(options)
  expect([code, offered(page, 'decision')]).toEqual([null, ['allow', 'refuse']])
  const [organisation] = offered(page, 'organisation')
  const shown = offered(page, 'shown')
  const fields = { organisation: organisation!, shown, scope: ticked, decision: 'allow' }
  const back = await browser.submit(page, 'consent', fields)
  return { code: back.location!.searchParams.get('code'), verifier, browser }
}

const toTokens = async ({ code, verifier }: { code: string | null; verifier: string }): Promise<Tokens> => {
  const { status, json } = await auth.exchange(client, code!, verifier)
  expect(status).toBe(200)
  return json
}
const works = async ({ access_token, refresh_token }: Tokens) => {
  auth.world.advance(5)
  return [await auth.profileStatus(access_token), (await auth.refresh(client, refresh_token)).status]
}
const ALIVE = [200, 200]
const ENDED = [401, 400]

const changeApp = (data: Prisma.AppUpdateInput) =>
  auth.world.db.app.update({ where: { id: app }, data, select: { id: true } })
const changeClient = (data: Prisma.ClientUncheckedUpdateInput) =>
  auth.world.db.client.update({ where: { id: client }, data, select: { id: true } })
const changeConsent = (data: Prisma.ConsentUpdateManyMutationInput) =>
  auth.world.db.consent.updateMany({ where: { clientId: client, personId: member }, data })

async function joinClub(approved: boolean) {
  const club = id('club')
  const memberships = { create: { personId: member } }
  await auth.world.db.organisation.create({ data: { id: club, kind: 'club', name: 'Second', memberships } })
  if (approved) await decide('approved', club)
}

describe('a sign-in about which nothing is new', () => {
  it('skips the consent page, also with prompt=none, and is one app with its last use at Connected apps', async () => {
    const first = await allow()
    const { page, code, browser, verifier } = await open()
    expect(page.url.pathname).not.toContain('/interaction/')
    const tokens = await toTokens({ code, verifier })
    expect(tokens.scope).toBe(scope)
    const [given, own, ...more] = (await consents()).toSorted((a, b) => (a.basis ?? '').localeCompare(b.basis ?? ''))
    expect(more).toEqual([])
    expect(own).toMatchObject({ basis: given!.id, scopes: given!.scopes, createdAt: given!.createdAt, shown: null })
    expect(decodeJwt(tokens.access_token)).toMatchObject({ gid: own!.id, sub: member })
    expect(await works(tokens)).toEqual(ALIVE)

    const signedIn = auth.newBrowser()
    await signedIn.submit(await signedIn.open(`${issuer}/connected`), 'pick', { member })
    expect((await open({ browser: signedIn, more: { prompt: 'none' } })).code).toEqual(expect.any(String))
    const list = await browser.open(`${issuer}/connected`)
    expect(offered(list, 'consent')).toHaveLength(1)
    expect(list.text).not.toContain('Not used yet')
    expect(first.code).toEqual(expect.any(String))
  })

  it('follows a sign-out at the app’s request: the member signs in again, and is not asked again', async () => {
    const { browser } = await allow()
    const page = await browser.open(`${issuer}/end-session?client_id=${client}`)
    const [query] = offered(page, 'query')
    await browser.submit(page, 'confirm', { query: query!.replaceAll('&amp;', '&'), decision: 'end' })
    const again = await browser.open(auth.authorizeUrl({ client, scope }).url)
    expect(again.text).toContain('name="member"')
    expect((await open({ browser })).code).toEqual(expect.any(String))
  })

  it('keeps nothing of one sign-in when the app ends another', async () => {
    const given = await toTokens(await allow())
    const [one, other] = [await toTokens(await open()), await toTokens(await open())]
    await auth.app.post(`${issuer}/revoke`, { client_id: client, token: one.refresh_token })
    expect(await works(one)).toEqual(ENDED)
    expect(await works(other)).toEqual(ALIVE)
    expect(await works(given)).toEqual(ALIVE)
    expect((await open()).code).toEqual(expect.any(String))
  })

  it('ends the first of 99 others, and not the consent that covers them all', async () => {
    const given = await toTokens(await allow())
    const first = await toTokens(await open())
    await addCopies(auth.world.db, String(decodeJwt(first.access_token).gid), 98)
    const last = await toTokens(await open())
    expect((await consents()).filter(({ withdrawnAt }) => withdrawnAt === null)).toHaveLength(100)
    expect([await works(given), await works(first), await works(last)]).toEqual([ALIVE, ENDED, ALIVE])
    expect((await open()).code).toEqual(expect.any(String))
  })

  it('ends with the year of the consent that covers it, however late it is', async () => {
    await allow()
    auth.world.advance(CONSENT_MS / 1000 - 86_400)
    const tokens = await toTokens(await open())
    expect(await works(tokens)).toEqual(ALIVE)
    const late = await toTokens(await open())
    auth.world.advance(86_400)
    expect(await works(late)).toEqual(ENDED)
    expect((await open()).code).toBeNull()
    auth.world.advance(-CONSENT_MS / 1000)
  })
})

/** Each is enough for the page: what changes before the second sign-in, and what that asks for. */
const changes: Record<string, { change?: () => Promise<unknown>; ask?: Options }> = {
  'more scopes': { ask: { asked: `${scope} ${results}` } },
  'fewer scopes': { ask: { asked: profile } },
  'other scopes': { ask: { asked: `${profile} ${results}` } },
  'a new purpose': { change: () => changeClient({ purpose: { ...purpose, [groups]: 'To sell them.' } }) },
  'a purpose less': { change: () => changeClient({ purpose: { [profile]: purpose[profile] } }) },
  'a new name': { change: () => changeApp({ name: 'Plans 2' }) },
  'a new homepage': { change: () => changeApp({ homepage: 'https://plans.example/new' }) },
  'no homepage': { change: () => changeApp({ homepage: null }) },
  'a second club that allows the app': { change: () => joinClub(true) },
  'a second club that nobody has asked': { change: () => joinClub(false) },
  'another club wanted': { ask: { more: { organisation: 'elsewhere' } } },
  'prompt=consent': { ask: { more: { prompt: 'consent' } } },
  'a redirect URI on this machine': {
    change: () => changeClient({ redirectUris: [redirectUri, 'http://localhost:5210/'] }),
  },
  'a redirect URI at localhost with https': {
    change: () => changeClient({ redirectUris: [redirectUri, 'https://app.localhost/'] }),
  },
  'a native app': { change: () => changeClient({ type: 'native' }) },
  'an approval that was withdrawn meanwhile': { change: () => decide('withdrawn').then(approve) },
  'a consent from before what members saw was stored': { change: () => changeConsent({ shown: null }) },
  'a consent that was withdrawn': { change: () => changeConsent({ withdrawnAt: new Date() }) },
  'a consent that has expired': { change: () => changeConsent({ createdAt: new Date(Date.now() - CONSENT_MS - 1) }) },
}

describe('the consent page is shown', () => {
  it.each(Object.keys(changes))('because of %s', async (name) => {
    const { change, ask } = changes[name]!
    await allow()
    expect((await open()).code).toEqual(expect.any(String))
    await change?.()
    const before = await consents()
    const { page, code } = await open(ask)
    expect([page.status, code, offered(page, 'decision').includes('allow')]).toEqual([200, null, true])
    expect(await consents()).toEqual(before)
  })

  it('because of any number of changes, and not without one', async () => {
    const names = Object.keys(changes)
    await fc.assert(
      fc.asyncProperty(fc.subarray(names, { maxLength: 3 }), async (picked) => {
        app = await mintApp(auth.world, { name: 'Plans', homepage: 'https://plans.example/' })
        client = await register(auth.world, { appId: app, purpose })
        member = await mintMember(auth.world)
        await approve()
        await allow()
        for (const name of picked) await changes[name]!.change?.()
        const asks = picked.map((name) => changes[name]!.ask ?? {})
        const ask = { ...Object.assign({}, ...asks), more: Object.assign({}, ...asks.map(({ more }) => more)) }
        expect((await open(ask)).code !== null).toBe(picked.length === 0)
      }),
      { numRuns: times(8, 4), examples: [[[]]] },
    )
  })

  it('after a scope was refused, and after a form that was not the page’s', async () => {
    await allow({}, [profile])
    expect((await open()).code).toBeNull()
    const { page, browser } = await open()
    const fields = { organisation: auth.world.ids.club, scope: scope.split(' '), decision: 'allow' }
    await browser.submit(page, 'consent', { ...fields, shown: 'A'.repeat(43) })
    expect((await open()).code).toBeNull()
    expect((await consents()).map(({ shown }) => shown)).toEqual([null, null])
  })

  it('to a client in sandbox, and after a consent on a device', async () => {
    const { ids } = auth.world
    const memberships = { create: { personId: await mintMember(auth.world) } }
    await auth.world.db.organisation.create({
      data: { id: id('test'), kind: 'club', name: 'Test', testTeamId: ids.team, memberships },
    })
    const sandbox = await register(auth.world, { appId: app, environment: 'sandbox' })
    await allow({ of: sandbox })
    expect((await open({ of: sandbox })).code).toBeNull()

    await changeClient({ devices: true })
    const flow = deviceFlow(auth)
    const { user_code } = await flow.begin(client, scope)
    const [page, browser] = await flow.toDecision(user_code, member)
    const [organisation] = offered(page, 'organisation')
    const fields = { organisation: organisation!, scope: scope.split(' '), shown: offered(page, 'shown') }
    await flow.decideOn(page, browser, { ...fields, decision: 'allow' })
    expect((await consents()).map(({ shown }) => shown)).toEqual([null])
    expect((await open()).code).toBeNull()
    await allow()
    const second = await flow.begin(client, scope)
    expect(offered((await flow.toDecision(second.user_code, member))[0], 'decision')).toContain('allow')
  })
})

describe('a consent covers no sign-in', () => {
  it('of another member, or at another client of the app', async () => {
    await allow()
    const other = await mintMember(auth.world)
    expect((await open({ person: other })).code).toBeNull()
    const sibling = await register(auth.world, { appId: app, purpose })
    expect((await open({ of: sibling })).code).toBeNull()
    expect(await auth.world.db.consent.count({ where: { client: { appId: app } } })).toBe(1)
  })

  it('of a suspended app, or at a client that is not approved or in development', async () => {
    await allow()
    const before = await consents()
    await changeApp({ state: 'suspended' })
    expect((await open()).page.location?.searchParams.get('error')).toBe('unauthorized_client')
    await changeApp({ state: 'active' })
    await changeClient({ state: 'requested' })
    expect((await open()).page.status).toBe(403)
    await changeClient({ state: 'active', testOnly: true })
    expect((await open()).page.status).toBe(403)
    expect(await consents()).toEqual(before)
  })

  it('with prompt=none before somebody has signed in, or where the page has to ask', async () => {
    await allow()
    const error = (page: Page) => page.location?.searchParams.get('error')
    expect(error((await open({ more: { prompt: 'none' } })).page)).toBe('login_required')
    const browser = auth.newBrowser()
    await browser.submit(await browser.open(`${issuer}/connected`), 'pick', { member })
    await changeApp({ name: 'Other' })
    expect(error((await open({ browser, more: { prompt: 'none' } })).page)).toBe('consent_required')
  })
})

describe('what a consent covers ends', () => {
  it('when the member withdraws it at Connected apps', async () => {
    const given = await toTokens(await allow())
    const { browser, ...signIn } = await open()
    const tokens = await toTokens(signIn)
    const list = await browser.open(`${issuer}/connected`)
    await browser.submit(list, 'withdraw', { consent: offered(list, 'consent')[0]! })
    expect([await works(given), await works(tokens)]).toEqual([ENDED, ENDED])
    expect((await open()).code).toBeNull()
    const ids = (await consents()).map(({ id }) => id)
    expect(await auth.world.db.oauthRecord.count({ where: { grantId: { in: ids } } })).toBe(0)
  })

  it('when a new consent replaces it, whose former sign-in keeps its own access', async () => {
    const given = await toTokens(await allow())
    const tokens = await toTokens(await open())
    const newer = await toTokens(await allow({ asked: profile }))
    expect([await works(given), await works(tokens), await works(newer)]).toEqual([ALIVE, ENDED, ALIVE])
    expect((await open()).code).toBeNull()
    expect((await open({ asked: profile })).code).toEqual(expect.any(String))
  })

  it.each<[string, (given: Tokens) => Promise<unknown>]>([
    [
      'the member leaves the club, also if they come back',
      async () => {
        const membership = { where: { personId: member } }
        await auth.world.db.membership.updateMany({ ...membership, data: { leftAt: new Date() } })
        await auth.world.db.membership.updateMany({ ...membership, data: { leftAt: null } })
      },
    ],
    ['the club withdraws its approval', () => decide('withdrawn')],
    [
      'the app signs out where the member gave it',
      ({ refresh_token: token }) => auth.app.post(`${issuer}/revoke`, { client_id: client, token }),
    ],
  ])('when %s', async (_, end) => {
    const given = await toTokens(await allow())
    const tokens = await toTokens(await open())
    await end(given)
    auth.world.advance(5)
    expect(await auth.profileStatus(tokens.access_token)).not.toBe(200)
    expect((await auth.refresh(client, tokens.refresh_token)).status).toBe(400)
    expect((await skipped()).every(({ withdrawnAt }) => withdrawnAt !== null)).toBe(true)
  })

  it('when it is withdrawn or replaced while the sign-in waits for it: the page is shown', async () => {
    for (const data of [{ withdrawnAt: new Date() }, { shown: null }]) {
      await allow()
      const { code } = await meanwhile(
        auth.world.db,
        (tx) => tx.consent.updateMany({ where: { clientId: client, personId: member }, data }),
        () => open(),
      )
      expect([code, await skipped()]).toEqual([null, []])
    }
  })

  it('when the approval is withdrawn while the sign-in waits for it', async () => {
    await allow()
    const { code } = await meanwhile(
      auth.world.db,
      (tx) => tx.clubApproval.updateMany({ where: { appId: app }, data: { state: 'withdrawn' } }),
      () => open(),
    )
    expect([code, await skipped()]).toEqual([null, []])
  })

  it.each(['withdrawn', 'replaced'])('when it is %s while the sign-in is being stored', async (end) => {
    const { browser } = await allow()
    const [given] = await consents()
    const list = await browser.open(`${issuer}/connected`)
    await meanwhile(
      auth.world.db,
      async (tx) => {
        await tx.$queryRaw`SELECT id FROM "Consent" WHERE id = ${given!.id} FOR SHARE`
        const { shown: _, ...of } = given!
        await tx.consent.create({ data: { ...of, id: id('skipped'), basis: given!.id } })
      },
      async () => {
        if (end === 'replaced') await allow({ asked: profile })
        else await browser.submit(list, 'withdraw', { consent: given!.id })
      },
    )
    expect((await skipped()).map(({ withdrawnAt }) => withdrawnAt !== null)).toEqual([true])
  })
})
