import { beforeEach, describe, expect, it } from 'vitest'
import { mintApp } from '../support/platform.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'

const scope = 'svc.me.profile:read'

const auth = authWorld()
/** An app of its own, and its client. */
let app: string
let client: string
beforeEach(async () => {
  app = await mintApp(auth.world)
  client = await register(auth.world, { appId: app })
})

const setState = (state: 'active' | 'suspended') => auth.world.db.app.update({ where: { id: app }, data: { state } })
const toCode = () => auth.toCode({ client, scope }, auth.world.ids.member, auth.world.ids.club)
const toTokens = () => auth.toTokens({ client, scope }, auth.world.ids.member, auth.world.ids.club)
const issued = () =>
  Promise.all([
    auth.world.db.consent.findMany({ where: { clientId: client } }),
    auth.world.db.oauthRecord.findMany({ where: { payload: { path: ['clientId'], equals: client } } }),
  ])

describe('a suspended app', () => {
  it('gets no sign-in: its member is sent back with an error', async () => {
    await setState('suspended')
    const page = await auth.newBrowser().open(auth.authorizeUrl({ client, scope }).url)
    expect(page.location!.origin + page.location!.pathname).toBe(redirectUri)
    expect(Object.fromEntries(page.location!.searchParams)).toEqual({
      error: 'unauthorized_client',
      error_description: 'this app is suspended',
      state: 'the-state',
      iss: issuer,
    })
  })

  it('gets no consent when it is suspended while the page is open', async () => {
    const browser = auth.newBrowser()
    const { club, member } = auth.world.ids
    const asking = await auth.toConsent(browser, auth.authorizeUrl({ client, scope }).url, member)
    await setState('suspended')
    const before = await issued()
    const page = await browser.submit(asking, 'consent', { organisation: club, scope: [scope], decision: 'allow' })
    expect(page.location?.searchParams.get('code')).toBeFalsy()
    expect(page.status).toBe(400)
    expect(await issued()).toEqual(before)
  })

  it('cannot redeem a code', async () => {
    const { code, verifier } = await toCode()
    await setState('suspended')
    const answer = await auth.exchange(client, code, verifier)
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant'])
  })

  it('cannot renew its tokens, which are refused within 5 s; both work again when the suspension ends', async () => {
    const { access_token, refresh_token } = await toTokens()
    const profile = () => auth.world.call('GET', '/me/profile', { token: access_token })
    expect((await profile()).status).toBe(200)
    await setState('suspended')
    const before = await issued()
    const answer = await auth.refresh(client, refresh_token)
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant'])
    auth.world.advance(5)
    const refused = await profile()
    expect([refused.status, refused.body.error.message]).toEqual([401, 'This token is not valid.'])
    expect(await issued()).toEqual(before)

    await setState('active')
    auth.world.advance(5)
    expect((await profile()).status).toBe(200)
    expect((await auth.refresh(client, refresh_token)).status).toBe(200)
  })
})
