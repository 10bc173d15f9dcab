import Router from '@koa/router'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { memoryLimits } from '../../server/limits/memory.ts'
import { MAX_FORM_BYTES } from '../../server/portal/forms/form-size.ts'
import { issuer } from '../oauth/auth-world.ts'
import { Browser } from '../oauth/browser.ts'
import { table } from '../support/markdown-table.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import type { PortalWorld } from './portal-world.ts'
import { listForms, listOtherPages, listPages, startPortal, storeEntry } from './portal-world.ts'

/**
 * All routes of the authorization server, its pages and the portal, below its issuer. `[sign-in]` is each of four places.
 *
 * - who: `attempt` has the cookie of a request or sign-in, `member` is signed in, `invited` besides has the invitation,
 *   `developer` and `owner` are so in the team
 * - limit: what refuses more with 429; `people` are the calls of a person and of a team. That of userinfo is of a token, in
 *   test/oauth/openid.test.ts
 * - body: `form` is at most 8 KiB, in the portal `MAX_FORM_BYTES`, `upload` 160 KiB, `token` 56 KiB; of others nothing is read
 * - from: `own` is refused from other origins, `any` reads no cookies, `site` is for forms of any site, as a link is
 * - back: opened again, as when its answer is reloaded, it leads to a page
 */
const routes = table<'method' | 'path' | 'who' | 'limit' | 'body' | 'from' | 'back'>(`
| method  | path                                                | who       | limit          | body   | from | back |
|---------|-----------------------------------------------------|-----------|----------------|--------|------|------|
| GET     | /authorize                                          | all       | authorizations |        |      |      |
| POST    | /authorize                                          | all       | authorizations | form   | site |      |
| GET     | /authorize/:uid                                     | attempt   |                |        |      |      |
| POST    | /token                                              | all       | token-failures | token  | any  |      |
| POST    | /revoke                                             | all       | token-failures | token  | any  |      |
| GET     | /jwks                                               | all       |                |        |      |      |
| GET     | /.well-known/oauth-authorization-server             | all       |                |        |      |      |
| GET     | /.well-known/openid-configuration                   | all       |                |        |      |      |
| GET     | /userinfo                                           | all       |                |        |      |      |
| POST    | /userinfo                                           | all       |                |        | any  |      |
| POST    | /device/auth                                        | all       | device-authorizations | token | any |  |
| GET     | /device                                             | all       |                |        |      |      |
| POST    | /device                                             | all       | device-codes   | form   | own  |      |
| GET     | /device/request/:uid                                | attempt   |                |        |      |      |
| POST    | /device/request/:uid/consent                        | attempt   |                | form   | own  | yes  |
| GET     | /device/request/:uid/switch                         | attempt   |                |        |      |      |
| OPTIONS | /device/auth                                        | all       |                |        |      |      |
| OPTIONS | /token                                              | all       |                |        |      |      |
| OPTIONS | /revoke                                             | all       |                |        |      |      |
| OPTIONS | /jwks                                               | all       |                |        |      |      |
| OPTIONS | /.well-known/oauth-authorization-server             | all       |                |        |      |      |
| OPTIONS | /.well-known/openid-configuration                   | all       |                |        |      |      |
| OPTIONS | /userinfo                                           | all       |                |        |      |      |
| GET     | /end-session                                        | all       |                |        |      |      |
| POST    | /end-session                                        | all       | authorizations | form   | site |      |
| POST    | /end-session/confirm                                | all       |                | form   | own  | yes  |
| GET     | /style.css                                          | all       |                |        |      |      |
| GET     | /fonts/:name                                        | all       |                |        |      |      |
| GET     | /theme/:name                                        | all       |                |        |      |      |
| GET     | /logo/:version                                      | all       |                |        |      |      |
| GET     | /icons/:app/:version                                | all       | icons          |        |      |      |
| POST    | /language                                           | all       |                | form   | own  |      |
| GET     | /upstream                                           | attempt   |                |        |      |      |
| GET     | /interaction/:uid                                   | attempt   |                |        |      |      |
| POST    | /interaction/:uid/consent                           | attempt   |                | form   | own  | yes  |
| GET     | /interaction/:uid/switch                            | attempt   |                |        |      |      |
| GET     | [sign-in]/upstream                                  | attempt   |                |        |      |      |
| GET     | [sign-in]/person                                    | attempt   |                |        |      |      |
| POST    | [sign-in]/email                                     | attempt   | code-limits    | form   | own  | yes  |
| POST    | [sign-in]/code                                      | attempt   | code-limits    | form   | own  | yes  |
| POST    | [sign-in]/pick                                      | attempt   |                | form   | own  | yes  |
| POST    | [sign-in]/person                                    | attempt   |                | form   | own  |      |
| GET     | /connected                                          | member    |                |        |      |      |
| GET     | /connected/remove                                   | member    |                |        |      |      |
| POST    | /connected/withdraw                                 | member    |                | form   | own  | yes  |
| POST    | /connected/sign-out                                 | member    |                |        | own  | yes  |
| POST    | /connected/data                                     | member    |                | form   | own  | yes  |
| GET     | /card                                               | member    |                |        |      |      |
| GET     | /calendar                                           | member    |                |        |      |      |
| POST    | /calendar/create                                    | member    | calendar-changes | form | own  | yes  |
| POST    | /calendar/remove                                    | member    | calendar-changes | form | own  | yes  |
| GET     | /club                                               | member    |                |        |      |      |
| GET     | /club/remove                                        | member    |                |        |      |      |
| POST    | /club/approve                                       | member    | club-decisions | form   | own  | yes  |
| POST    | /club/refuse                                        | member    | club-decisions | form   | own  | yes  |
| POST    | /club/withdraw                                      | member    | club-decisions | form   | own  | yes  |
| POST    | /club/sign-out                                      | member    |                |        | own  | yes  |
| GET     | /family                                             | member    |                |        |      |      |
| GET     | /family/remove                                      | member    |                |        |      |      |
| POST    | /family/approve                                     | member    | family-decisions | form   | own  | yes  |
| POST    | /family/refuse                                      | member    | family-decisions | form   | own  | yes  |
| POST    | /family/withdraw                                    | member    | family-decisions | form   | own  | yes  |
| POST    | /family/sign-out                                    | member    |                |        | own  | yes  |
| GET     | /developers/sign-in                                 | attempt   |                |        |      |      |
| GET     | /developers/continue                                | attempt   |                |        |      |      |
| POST    | /developers/sign-out                                | member    |                |        | own  |      |
| GET     | /developers/script.js                               | all       |                |        |      |      |
| GET     | /developers/style.css                               | all       |                |        |      |      |
| GET     | /developers                                         | member    | people         |        |      |      |
| GET     | /developers/mails                                   | member    | people         |        |      |      |
| POST    | /developers/mails/save                              | member    | people         | form   | own  | yes  |
| POST    | /developers/create-team                             | member    | people         | form   | own  | yes  |
| POST    | /developers/request-team                            | member    | people         | form   | own  | yes  |
| POST    | /developers/withdraw-team                           | member    | people         | form   | own  | yes  |
| GET     | /developers/invitations/:invitation                 | invited   | people         |        |      |      |
| POST    | /developers/invitations/:invitation/accept          | invited   | people         | form   | own  | yes  |
| POST    | /developers/invitations/:invitation/decline         | invited   | people         | form   | own  | yes  |
| GET     | /developers/teams/:team                             | developer | people         |        |      |      |
| GET     | /developers/teams/:team/usage                       | developer | people         |        |      |      |
| GET     | /developers/teams/:team/apps/:app/usage             | developer | people         |        |      |      |
| GET     | /developers/teams/:team/requests                    | developer | people         |        |      |      |
| GET     | /developers/teams/:team/audit                       | developer | people         |        |      |      |
| GET     | /developers/teams/:team/delete                      | owner     | people         |        |      |      |
| POST    | /developers/teams/:team/delete/confirm              | owner     | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/restore                     | owner     | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/delete            | owner     | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/delete/confirm    | owner     | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/restore           | owner     | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/test-club                   | developer | people         |        |      |      |
| GET     | /developers/teams/:team/test-club/reset             | developer | people         |        |      |      |
| POST    | /developers/teams/:team/test-club/reset/confirm     | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/test-club/change            | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/test-club/withdraw          | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/test-club/review            | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/people                      | developer | people         |        |      |      |
| POST    | /developers/teams/:team/people/invite               | owner     | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/people/withdraw             | owner     | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/people/role                 | owner     | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/people/:person/remove       | developer | people         |        |      |      |
| POST    | /developers/teams/:team/people/:person/remove/confirm | owner   | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/apps                        | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app                   | developer | people         |        |      |      |
| GET     | /developers/teams/:team/apps/:app/settings          | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/settings/details | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/settings/logo | developer | people         | upload | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/settings/remove-logo | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/settings/withdraw-changes | developer | people    | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/clients           | developer | people         |        |      |      |
| GET     | /developers/teams/:team/apps/:app/requests          | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/clients/create    | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/webhook           | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/webhook/set       | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/webhook/end-former-secret | developer | people | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/webhook/remove    | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/webhook/remove/confirm | developer | people    | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/webhook/test      | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/addresses         | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/addresses/add     | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/addresses/:address | developer | people        |        |      |      |
| POST    | /developers/teams/:team/apps/:app/addresses/:address/set | developer | people    | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/addresses/:address/set-state | developer | people | form | own | yes |
| POST    | /developers/teams/:team/apps/:app/addresses/:address/test | developer | people   | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/addresses/:address/remove | developer | people |        |      |      |
| POST    | /developers/teams/:team/apps/:app/addresses/:address/remove/confirm | developer | people | form | own | yes |
| GET     | /developers/teams/:team/apps/:app/clubs             | developer | people         |        |      |      |
| GET     | /developers/teams/:team/apps/:app/rules             | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/rules/set         | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/data              | developer | people         |        |      |      |
| GET     | /developers/teams/:team/apps/:app/data/:club        | developer | people         |        |      |      |
| GET     | /developers/teams/:team/apps/:app/data/:club/:owner/:collection | developer | people |     |      |      |
| GET     | /developers/teams/:team/apps/:app/data/:club/:owner/:collection/:key | developer | people | |      |      |
| POST    | /developers/teams/:team/apps/:app/data/:club/:owner/:collection/:key/save | developer | people | form | own | yes |
| POST    | /developers/teams/:team/apps/:app/data/:club/:owner/:collection/:key/delete | developer | people | form | own | yes |
| GET     | /developers/teams/:team/apps/:app/deliveries        | developer | people         |        |      |      |
| POST    | /developers/teams/:team/apps/:app/deliveries/retry-failed | developer | people   | form   | own  | yes  |
| GET     | /developers/teams/:team/apps/:app/deliveries/:delivery | developer | people      |        |      |      |
| POST    | /developers/teams/:team/apps/:app/deliveries/:delivery/retry | developer | people | form   | own  | yes  |
| POST    | /developers/teams/:team/apps/:app/deliveries/:delivery/resend | developer | people | form   | own  | yes  |
| GET     | /developers/teams/:team/clients/:client             | developer | people         |        |      |      |
| GET     | /developers/teams/:team/clients/:client/start       | developer | people         |        |      |      |
| POST    | /developers/teams/:team/clients/:client/start/prepare | developer | people       | form   | own  | yes  |
| GET     | /developers/teams/:team/clients/:client/sign-in     | developer | people         |        |      |      |
| GET     | /developers/teams/:team/clients/:client/scopes      | developer | people         |        |      |      |
| GET     | /developers/teams/:team/clients/:client/credentials | developer | people         |        |      |      |
| POST    | /developers/teams/:team/clients/:client/sign-in/settings | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/clients/:client/scopes/set  | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/clients/:client/credentials/authentication | developer | people      | form   | own  | yes  |
| POST    | /developers/teams/:team/clients/:client/credentials/create-secret | developer | people       | form   | own  | yes  |
| GET     | /developers/teams/:team/clients/:client/credentials/secrets/:secret/remove | developer | people |     |      |      |
| POST    | /developers/teams/:team/clients/:client/credentials/secrets/:secret/remove/confirm | developer | people | form | own | yes |
| POST    | /developers/teams/:team/clients/:client/reference   | developer | people         | form   | own  | yes  |
| POST    | /developers/teams/:team/clients/:client/withdraw    | developer | people         | form   | own  | yes  |
| GET     | /developers/teams/:team/clients/:client/production  | developer | people         |        |      |      |
| POST    | /developers/teams/:team/clients/:client/production/request | owner | people      | form   | own  | yes  |
| GET     | /developers/teams/:team/clients/:client/remove      | developer | people         |        |      |      |
| POST    | /developers/teams/:team/clients/:client/remove/confirm | developer | people      | form   | own  | yes  |
`).flatMap((row) =>
  row.path.startsWith('[sign-in]')
    ? [
        '/interaction/:uid',
        '/device/request/:uid',
        '/connected',
        '/card',
        '/calendar',
        '/club',
        '/family',
        '/developers/sign-in',
      ].map((place) => ({
        ...row,
        path: row.path.replace('[sign-in]', place),
      }))
    : [row],
)
type Route = (typeof routes)[number]
/** Its pages exist only in the browser that has begun it. */
const isBegun = ({ path }: Route) => /^\/(?:interaction|device\/request)\//.test(path)

const consentAges = new Map([['', 16]])
let registered: string[]
let team: PortalWorld
/** Another node, beyond whose limits every request is. */
let full: World
let at: (route: Route) => string
let makeFields: (route: Route) => Record<string, string | string[]>
beforeAll(async () => {
  const register = vi.spyOn(Router.prototype, 'register')
  team = await startPortal({ clubApproval: true, consentAges })
  registered = register.mock.calls.flatMap(([paths, methods]) =>
    [paths].flat().map((path) => `${methods.join().toUpperCase()} ${path}`),
  )
  register.mockRestore()
  const { ids } = team.world
  const names = new Set(routes.map(({ limit }) => (limit === 'people' ? 'developer-person' : limit)))
  const limits = memoryLimits()
  const open: typeof limits.open = (name, points, seconds) => limits.open(name, names.has(name) ? 0 : points, seconds)
  full = await startWorld({
    auth: {},
    clubApproval: true,
    consentAges,
    like: team.world,
    limits: { ...limits, open },
    tokenFailures: 0,
  })

  // Whoever is of a team may leave it: somebody who is neither the owner nor the colleague.
  const person = id('third')
  const { db } = team.world
  await db.person.create({ data: { id: person, firstName: 'Dev', lastName: 'third', email: '' } })
  await db.teamMember.create({ data: { teamId: ids.team, personId: person, role: 'developer' } })
  const { id: client } = await team.sandbox()
  const { id: secret } = await team.as(team.owner).clients.secrets.create({ client })
  const delivery = await team.failed()
  const club = await storeEntry(team)
  const invitation = await team.as(team.owner).people.invite({
    team: ids.team,
    email: 'new@example.org',
    role: 'developer',
  })
  const values: Record<string, string> = {
    team: ids.team,
    app: ids.app,
    client,
    secret,
    delivery,
    person,
    invitation: invitation.id,
    club,
    owner: 'shared',
    collection: 'c',
    key: 'k',
    uid: 'a'.repeat(43),
    version: '0'.repeat(32),
  }
  at = ({ path }) => issuer + path.replaceAll(/:(\w+)/g, (_, name) => values[name]!)
  const forms = listForms(ids.team, ids.app, client, delivery, person, ids.provider, secret)
  makeFields = (route) => forms[at(route).slice(`${issuer}/developers`.length)] ?? {}
})
afterAll(async () => {
  await full.close()
  await team.world.close()
})

const posts = routes.filter(({ method }) => method === 'POST')
const titled = (those: readonly Route[]) => those.map((route) => [`${route.method} ${route.path}`, route] as const)
const ofTeam = (those: readonly Route[]) => those.filter(({ path }) => path.includes('/teams/'))
const send = (browser: Browser, route: Route, address = at(route)) =>
  route.method === 'GET'
    ? browser.get(address)
    : route.body === 'upload'
      ? browser.upload(address, new FormData())
      : browser.post(address, makeFields(route))
const isUnchanged = async (work: () => Promise<void>) => {
  const before = await team.stored()
  await work()
  expect(await team.stored()).toEqual(before)
}

it('each route has a row, and each row a route', () => {
  const pages = registered
    .map((route) => route.replace(/ \/v1\/oauth(?=\/)/, ' '))
    .filter((route) => !OTHER.test(route))
  const expected = routes.flatMap(({ method, path, back }) => [`${method} ${path}`, ...(back ? [`GET ${path}`] : [])])
  expect(new Set(pages)).toEqual(
    new Set([
      ...expected,
      // Not below the issuer.
      ...['oauth-authorization-server/v1/oauth', 'membercards', 'membercards/v1'].flatMap((name) => [
        `GET /.well-known/${name}`,
        `OPTIONS /.well-known/${name}`,
      ]),
      'GET /v1/card/:uid',
    ]),
  )
  expect(new Set(expected).size).toBe(expected.length)
})
/** Routes of the APIs and the internal port. */
const OTHER = /^GET (\/v1\/openapi\.json|\/metrics|\/healthz|\/readyz)$/

it('axe sees each page of the portal, in test/verify/pages/portal.test.ts', () => {
  const others = { address: ':address', club: ':club', person: ':person', invitation: ':invitation' }
  const seen = [
    ...listPages(':team', ':app', ':client', ':delivery', ':secret'),
    ...listOtherPages(':team', ':app', others).map((page) => page.replace('shared/c/k', ':owner/:collection/:key')),
  ].map((page) => `/developers${page.replace('shared/c', ':owner/:collection')}`)
  const pages = routes.filter(({ method, limit }) => method === 'GET' && limit === 'people')
  expect(pages.map(({ path }) => path).filter((path) => !seen.includes(path))).toEqual([])
})

describe('a form', () => {
  it.each(titled(posts))('%s says where it may come from', (_, { from }) => {
    expect(from).toMatch(/^(own|any|site)$/)
  })

  it.each(titled(posts.filter(({ from }) => from === 'own')))('%s is refused from other origins', (_, route) =>
    isUnchanged(async () => {
      const from = (headers: Record<string, string>) => team.asOwner.post(at(route), makeFields(route), headers)
      const origins = [{ origin: 'http://elsewhere.test' }, { origin: '' }, { 'sec-fetch-site': 'same-site' }]
      const statuses = await Promise.all(origins.map(async (headers) => (await from(headers)).status))
      expect(statuses).toEqual([403, 403, 403])
    }),
  )

  it.each(titled(posts.filter(({ from }) => from === 'any')))(
    '%s is for all origins, without cookies',
    async (_, route) => {
      const { headers } = await team.asOwner.post(at(route), {}, { origin: 'http://elsewhere.test' })
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers).not.toHaveProperty('set-cookie')
    },
  )
})

describe('a body', () => {
  /** They redirect a person who has signed in. */
  const isOfSignIn = ({ path }: Route) => /\/(?:email|code|pick|person)$/.test(path)
  const post = async (route: Route, type: string, body: string) => {
    const browser = isOfSignIn(route) ? team.newBrowser() : team.asOwner
    return (await browser.post(at(route), body, { 'content-type': type })).status
  }
  const bounds = { form: 8 * 1024, upload: 160 * 1024, token: 56 * 1024 }
  const types = {
    form: 'application/x-www-form-urlencoded',
    upload: 'multipart/form-data; boundary=b',
    token: 'application/x-www-form-urlencoded',
  }
  const read = posts.filter(({ body }) => body !== '')

  it.each(titled(read))('of %s that is too large, or of another type, is refused', (_, route) =>
    isUnchanged(async () => {
      const body = route.body as keyof typeof bounds
      const bound = body === 'form' && route.limit === 'people' ? MAX_FORM_BYTES : bounds[body]
      expect(await post(route, types[body], 'a'.repeat(bound + 1))).toBe(400)
      // A sign-in that has not begun is refused before; a consent says by its form whether it goes on.
      const isRefused = isBegun(route) && route.path !== '/interaction/:uid/consent'
      const other = isRefused || body === 'token' || route.from === 'site' ? 400 : 415
      expect(await post(route, 'application/json', '{}')).toBe(other)
    }),
  )

  it.each(titled(posts.filter(({ body }) => body === '')))('of %s is not read', async (_, route) => {
    const browser = await team.signIn(team.stranger)
    const { status } = await browser.post(at(route), 'a'.repeat(100_000))
    // A form without fields, or userinfo without a token.
    expect([200, 303, 401]).toContain(status)
  })
})

describe('without signing in', () => {
  const signIn = `${issuer}/developers/sign-in`
  const portal = routes.filter(({ path, limit }) => path.startsWith('/developers') && limit === 'people')

  it.each(titled(portal))('%s leads to the sign-in', (_, route) =>
    isUnchanged(async () => {
      const { status, location } = await send(team.newBrowser(), route)
      expect([status, location?.href]).toEqual([303, signIn])
    }),
  )

  it.each(titled(routes.filter(isBegun)))('%s needs its request', async (_, route) => {
    expect((await send(team.newBrowser(), route)).status).toBe(400)
  })

  it.each(titled(routes.filter(({ path }) => /^\/(connected|club|family)/.test(path))))(
    '%s shows nobody',
    async (_, route) => {
      const { text } = await send(team.newBrowser(), route)
      expect(text).not.toMatch(/\/(connected|club|family)\/sign-out/)
    },
  )
})

describe('somebody else', () => {
  const others = [...ofTeam(routes), ...routes.filter(({ who }) => who === 'invited')]

  it.each(titled(others))('gets 404 at %s', (_, route) =>
    isUnchanged(async () => {
      expect((await send(team.asStranger, route)).status).toBe(404)
    }),
  )

  it.each(titled(routes.filter(({ who }) => who === 'owner')))('who is a developer gets 403 at %s', (_, route) =>
    isUnchanged(async () => {
      expect((await send(team.asColleague, route)).status).toBe(403)
    }),
  )
})

describe('beyond its limit', () => {
  /** test/oauth/code-limits.test.ts has those of codes by mail. */
  const limited = routes.filter(({ limit }) => limit !== '' && limit !== 'code-limits')

  it.each(titled(limited))('%s is 429', (_, route) =>
    isUnchanged(async () => {
      const browser = Object.assign(new Browser(full.publicPort), { cookies: team.asOwner.cookies })
      expect((await send(browser, route)).status).toBe(429)
    }),
  )

  it.each(titled([...ofTeam(routes), ...routes.filter(({ who }) => who === 'invited')]))(
    '%s has one',
    (_, { limit }) => {
      expect(limit).toBe('people')
    },
  )
})

describe('opened again', () => {
  it.each(titled(routes.filter(({ back }) => back !== '')))('%s leads to a page', async (_, route) => {
    const { status, location } = await team.asOwner.get(at(route))
    // A sign-in that has not begun has no page.
    if (isBegun(route) && !route.path.endsWith('/consent')) return expect(status).toBe(400)
    expect(status).toBe(303)
    expect(at(route).startsWith(location!.href)).toBe(true)
  })
})
