import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { authWorld } from './auth-world.ts'
import { offered } from './browser.ts'

const auth = authWorld()

const asked = 'svc.me.profile:read svc.apps.storage:write lms.me.quizzes:write ntf.apps.webhook:read'

it.each<[string, () => string, string]>([
  ['club', () => auth.world.ids.club, 'svc.me.profile:read svc.apps.storage:write'],
  ['academy', () => auth.world.ids.academy, 'lms.me.quizzes:write'],
  ['provider', () => auth.world.ids.provider, 'ntf.apps.webhook:read'],
])(
  'a consent for the %s has the ticked scopes that are for it, and no others, and the sign-in ends',
  async (_, organisation, scope) => {
    const { client, world, toTokens, refresh } = auth
    const tokens = await toTokens({ client, scope: asked }, world.ids.member, organisation())
    expect(tokens.scope).toBe(scope)
    const { gid, ...claims } = decodeJwt(tokens.access_token)
    expect(claims).toMatchObject({ scope, organisation: organisation() })
    const consent = await world.db.consent.findUniqueOrThrow({ where: { id: String(gid) } })
    expect(consent.scopes).toEqual(scope.split(' '))
    const grant = await world.db.oauthRecord.findFirstOrThrow({ where: { model: 'Grant', id: String(gid) } })
    expect(grant.payload).toMatchObject({ resources: { 'urn:member-apps-api': scope } })
    expect(grant.payload).not.toHaveProperty('rejected')
    expect((await refresh(client, tokens.refresh_token)).json.scope).toBe(scope)
  },
)

it('an app that then asks for the scopes of another kind of organisation is asked about that one', async () => {
  const { client, world, toTokens, newBrowser } = auth
  const { member, club, academy } = world.ids
  const browser = newBrowser()
  await toTokens({ client, scope: asked }, member, club, browser)
  const scope = 'lms.me.quizzes:write'
  const page = await browser.open(auth.authorizeUrl({ client, scope }).url)
  expect([page.status, offered(page, 'organisation')]).toEqual([200, [academy]])
  expect((await toTokens({ client, scope }, member, academy, browser)).scope).toBe(scope)
  // The last consent of the browser has some of what is asked.
  const silent = await browser.open(auth.authorizeUrl({ client, scope: asked }).url)
  expect(silent.location?.searchParams.get('code')).toEqual(expect.any(String))
})
