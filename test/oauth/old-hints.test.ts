import fc from 'fast-check'
import { generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { deleteRetiredKeys, makeKey, revokeKey } from '../../server/oauth/keys/signing-key-store.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered } from './browser.ts'
import { deviceFlow } from './device-world.ts'
import { api, everything } from './openid-world.ts'

const bye = 'https://app.example/bye'
const scopes = everything.split(' ')

const auth = authWorld()
let client: string
let browser: Browser
/** An ID token whose key has been rotated and removed, one whose key was revoked, and others that cannot be verified. */
const hints = new Map<string, string>()

beforeAll(async () => {
  const { world } = auth
  const store = { db: world.db, cipher: createCipher(world.secretsKeys), now: () => world.core.now() }
  const register_ = () => register(world, { scopes, devices: true, postLogoutRedirectUris: [bye] } as never)
  client = await register_()
  browser = auth.newBrowser()
  const requestIdToken = async (of: string) => (await auth.toTokens({ client: of, scope: everything })).id_token
  const readKid = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid

  const rotated = await requestIdToken(client)
  await store.db.signingKey.create({ data: await makeKey(store.cipher, new Date(store.now())) })
  world.advance(21 * 60)
  await deleteRetiredKeys(store)
  await world.oauth!.reload()
  const revoked = await requestIdToken(client)
  await revokeKey(store, readKid(revoked))
  await world.oauth!.reload()
  const { id_token: valid } = await auth.toTokens(
    { client, scope: everything },
    ...([world.ids.member, world.ids.club, browser] as const),
  )

  const { privateKey } = await generateKeyPair('ES256')
  const { privateKey: rsa } = await generateKeyPair('RS256')
  const sign = (alg: string, key: Parameters<SignJWT['sign']>[0], more: object = {}, kid = readKid(valid)) =>
    new SignJWT({ iss: issuer, aud: client, sub: world.ids.member, iat: 1, exp: 2, ...more })
      .setProtectedHeader({ alg, kid })
      .sign(key)
  const entries: [string, string][] = [
    ['whose key was rotated', rotated],
    ['whose key was revoked', revoked],
    ['that has expired', valid],
    ['of another client', await requestIdToken(await register_())],
    ['of an unknown key', await sign('ES256', privateKey, {}, 'unknown')],
    ['that is forged', await sign('ES256', privateKey)],
    ['of another algorithm', await sign('RS256', rsa)],
    ['of another issuer', await sign('ES256', privateKey, { iss: 'https://elsewhere.example' })],
    ['for several audiences', await sign('ES256', privateKey, { aud: [client, 'other'] })],
    ['for nobody', await sign('ES256', privateKey, { aud: undefined })],
    ['for a number', await sign('ES256', privateKey, { aud: 5 })],
    ['that is JSON', '{}'],
    ['that is no token', 'text'],
    ['that is empty', ''],
    ['with NUL', `${valid}\0`],
    ['with alg none', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${valid.split('.')[1]}.`],
  ]
  for (const [says, token] of entries) hints.set(says, token)
  world.advance(16 * 60)
})

const named = [
  ...['whose key was rotated', 'whose key was revoked', 'that has expired', 'of another client', 'of an unknown key'],
  ...['that is forged', 'of another algorithm', 'of another issuer', 'for several audiences', 'for nobody'],
  ...['for a number', 'that is JSON', 'that is no token', 'that is empty', 'with NUL', 'with alg none'],
]

type More = Record<string, string | undefined>
const ask = (more: More, from = browser) => from.open(auth.authorizeUrl({ client, scope: everything, more }).url)
const seen = ({ status, location, text }: Page) => [
  ...[status, location && `${location.origin}${location.pathname}`, location?.searchParams.get('error')],
  ...[location?.searchParams.has('code'), text.includes('name="member"'), text.includes('name="decision"')],
]
const end = (fields: Record<string, string>, from = browser) =>
  from.open(`${issuer}/end-session?${new URLSearchParams(fields)}`)

describe.each(named)('an id_token_hint %s', (says) => {
  it('counts as not given at the authorization endpoint', async () => {
    const id_token_hint = hints.get(says)!
    for (const from of [() => browser, auth.newBrowser]) {
      for (const prompt of ['none', undefined]) {
        const [without, withIt] = [await ask({ prompt }, from()), await ask({ prompt, id_token_hint }, from())]
        expect(seen(withIt)).toEqual(seen(without))
        expect([withIt.status, withIt.location?.searchParams.get('error')]).not.toContain('invalid_request')
      }
      const url = auth.authorizeUrl({ client, scope: everything, more: { prompt: 'none', id_token_hint } }).url
      const posting = from()
      const posted = await posting.post(`${issuer}/authorize`, `${url.searchParams}`, { origin: 'https://app.example' })
      expect(seen(await posting.open(posted.location!))).toEqual(seen(await ask({ prompt: 'none' }, from())))
    }
  })

  it('at end-session asks, and returns to the address of client_id', async () => {
    const fields = { client_id: client, post_logout_redirect_uri: bye, state: 'x' }
    const hinted = { ...fields, id_token_hint: hints.get(says)! }
    const page = await end(hinted)
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Sign out of this browser?')])
    const [query] = offered(page, 'query')
    const stayed = await browser.submit(page, 'confirm', { query: query!.replaceAll('&amp;', '&'), decision: 'stay' })
    expect(stayed.location!.href).toBe(`${bye}?state=x`)
    const posted = await browser.post(`${issuer}/end-session`, hinted, { origin: 'https://app.example' })
    expect((await browser.follow(posted)).text).toContain('Sign out of this browser?')
    expect((await end(hinted, auth.newBrowser())).location!.href).toBe(`${bye}?state=x`)
    expect((await end({ id_token_hint: hints.get(says)! })).text).toContain('Sign out of this browser?')
  })

  it('begins a sign-in on a device', async () => {
    const { begin } = deviceFlow(auth)
    for (const scope of [everything, api]) {
      expect(await begin(client, scope, { id_token_hint: hints.get(says)! })).toMatchObject({ expires_in: 600 })
    }
  })
})

it.each(['whose key was rotated', 'whose key was revoked', 'that has expired', 'that is forged'])(
  'an id_token_hint %s names the client at end-session, as client_id does',
  async (says) => {
    const page = await end({ id_token_hint: hints.get(says)!, post_logout_redirect_uri: bye, state: 'x' })
    expect(page.text).toContain('<bdi>App</bdi> asks you to.')
    const back = await browser.submit(page, 'confirm', {
      query: offered(page, 'query')[0]!.replaceAll('&amp;', '&'),
      decision: 'stay',
    })
    expect(back.location!.href).toBe(`${bye}?state=x`)
  },
)

describe('hints of any text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('', 'de', 'xx-YY', '\0', 'a@b\0', 'x'.repeat(1_500), '0', 'null', '[]', '{"id_token":1}'),
    fc.constantFrom(...named).map((says) => hints.get(says) ?? 'text'),
  )
  const name = fc.constantFrom(
    ...[
      'id_token_hint',
      'login_hint',
      'ui_locales',
      'claims_locales',
      'acr_values',
      'claims',
      'display',
      'logout_hint',
    ],
  )
  const some = fc.array(fc.tuple(name, text), { minLength: 1, maxLength: 4 })
  const isShort = (query: URLSearchParams) => `${query}`.length < 3_900

  it('never cause an error, with and without openid, at sign-in, on devices and at sign-out', async () => {
    const [plain, openid] = [await register(auth.world, { devices: true, scopes: [api] }), client]
    const devices = auth.newBrowser()
    let requests = 0
    await fc.assert(
      fc.asyncProperty(some, fc.constantFrom(api, everything), async (given, scope) => {
        // To an address, 60 requests a minute are allowed for a device, and 300 at the authorization endpoint.
        const localAddress = `127.0.1.${1 + Math.floor(requests++ / 50)}`
        for (const one of [plain, openid]) {
          const { url } = auth.authorizeUrl({ client: one, scope })
          for (const [key, value] of given) url.searchParams.append(key, value)
          fc.pre(isShort(url.searchParams))
          const page = await Object.assign(auth.newBrowser(), { localAddress }).open(url)
          expect([page.status, page.text.includes('name="member"')]).toEqual([200, true])
        }
        const device = new URLSearchParams([['client_id', openid], ['scope', scope], ...given])
        devices.localAddress = localAddress
        expect((await devices.post(`${issuer}/device/auth`, `${device}`)).status).toBe(200)
        const out = new URLSearchParams([['client_id', openid], ['post_logout_redirect_uri', bye], ...given])
        expect((await browser.open(`${issuer}/end-session?${out}`)).text).toContain('name="decision" value="end"')
      }),
      { numRuns: times(300, 15), seed },
    )
  })
})
