import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { seed } from '../support/chance.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { times } from '../support/rounds.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import { offered } from './browser.ts'
import { deviceFlow, deviceGrant } from './device-world.ts'
import { api } from './openid-world.ts'

const AUDIENCE = 'urn:member-apps-api'
const localUrls = localUrlsAt('http://localhost:3000')
const auth = authWorld({ localUrls })

let client: string
beforeAll(async () => {
  client = await register(auth.world, { devices: true })
})

const bases = ['apps', 'lms', 'notify', 'sync'].flatMap((name) => [
  `http://${name}.test/v1`,
  localUrls[name as keyof typeof localUrls],
])
bases.push('http://sync.test/v1/mcp', `${localUrls.sync}/mcp`)
const known = [AUDIENCE, ...bases.flatMap((base) => [base, `${base}/`])]
const unknown = [
  ...[
    'https://other.example/v1',
    'http://auth.test/v1',
    'http://apps.test',
    'http://apps.test/',
    'http://apps.test/v1//',
  ],
  ...[
    'http://apps.test/v1/me/profile',
    'http://apps.test/v1/mcp',
    'http://apps.test/v1?',
    'http://apps.test/v1?a',
    'http://apps.test/v1#a',
  ],
  ...['http://u@apps.test/v1', 'https://apps.test/v1', 'http://apps.test:81/v1', 'http://apps.test/V1', 'apps.test/v1'],
  ...[
    'urn:member-apps-api:x',
    'urn:member-apps-api/',
    'urn:other',
    'http://apps.test.evil.example/v1',
    'http://[',
    '\0',
  ],
  localUrls.auth,
]

const form = (fields: [string, string][], resources: readonly string[]) =>
  `${new URLSearchParams([...fields, ...resources.map((one): [string, string] => ['resource', one])])}`
const post = (path: string, fields: [string, string][], resources: readonly string[]) =>
  auth.app.post(`${issuer}${path}`, form(fields, resources))

/** Up to the code. */
async function codeFor(resources: readonly string[]) {
  const { url, verifier } = auth.authorizeUrl({ client, scope: api })
  for (const one of resources) url.searchParams.append('resource', one)
  const browser = auth.newBrowser()
  const page = await auth.toConsent(browser, url, auth.world.ids.member)
  if (!page.text.includes('name="decision"')) return { page, verifier }
  const fields = { organisation: auth.world.ids.club, scope: api, decision: 'allow' }
  return { page: await browser.submit(page, 'consent', fields), verifier }
}
const exchange = ({ page, verifier }: Awaited<ReturnType<typeof codeFor>>, resources: readonly string[]) => {
  const code = page.location!.searchParams.get('code')!
  const grant = { grant_type: 'authorization_code', client_id: client, code, code_verifier: verifier }
  return post('/token', Object.entries({ ...grant, redirect_uri: redirectUri }), resources)
}
const renew = (token: string, resources: readonly string[]) =>
  post('/token', Object.entries({ grant_type: 'refresh_token', client_id: client, refresh_token: token }), resources)
const newToken = async (): Promise<string> => (await exchange(await codeFor([]), [])).json.refresh_token
const readAudience = ({ json }: { json: { access_token: string } }) => decodeJwt(json.access_token).aud

describe('the resource', () => {
  it.each(known)('%s is accepted at authorize, token and device, and aud stays', async (resource) => {
    const answer = await exchange(await codeFor([resource]), [resource])
    expect([answer.status, readAudience(answer)]).toEqual([200, AUDIENCE])
    const renewed = await renew(answer.json.refresh_token, [resource])
    expect([renewed.status, readAudience(renewed)]).toEqual([200, AUDIENCE])
    const { allow } = deviceFlow(auth)
    const begun = await post(
      '/device/auth',
      [
        ['client_id', client],
        ['scope', api],
      ],
      [resource],
    )
    expect(begun.status).toBe(200)
    await allow(begun.json.user_code, api, auth.world.ids.member, auth.world.ids.club)
    const poll = { grant_type: deviceGrant, client_id: client, device_code: begun.json.device_code }
    const tokens = await post('/token', Object.entries(poll), [resource])
    expect([tokens.status, readAudience(tokens)]).toEqual([200, AUDIENCE])
  })

  it('may be named several times, and differently at each endpoint', async () => {
    const all = await exchange(await codeFor(bases), [bases[0]!, `${bases[2]}/`])
    expect([all.status, readAudience(all)]).toEqual([200, AUDIENCE])
    const without = await exchange(await codeFor([]), ['', bases[1]!])
    expect([without.status, readAudience(without)]).toEqual([200, AUDIENCE])
  })

  it.each(unknown)('%j is invalid_target, and uses up no token', async (resource) => {
    auth.world.advance(60)
    const token = await newToken()
    for (const resources of [[resource], [AUDIENCE, resource], [resource, bases[0]!]]) {
      const { page } = await codeFor(resources)
      expect(page.location?.searchParams.get('error')).toBe('invalid_target')
      const renewed = await renew(token, resources)
      expect([renewed.status, renewed.json.error]).toEqual([400, 'invalid_target'])
      const begun = await post(
        '/device/auth',
        [
          ['client_id', client],
          ['scope', api],
        ],
        resources,
      )
      expect([begun.status, begun.json.error]).toEqual([400, 'invalid_target'])
    }
    expect((await renew(token, [])).status).toBe(200)
  })

  it('is invalid_target at the exchange of a code when it is unknown', async () => {
    const answer = await exchange(await codeFor([]), ['https://other.example/v1'])
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_target'])
  })

  it('is accepted in every spelling of a known address, and in no other', async () => {
    const token = await newToken()
    const spelt = fc
      .tuple(fc.constantFrom(...bases), fc.boolean(), fc.boolean(), fc.boolean())
      .map(([base, upper, port, slash]) => {
        const { host, pathname, port: own } = new URL(base)
        const name = upper ? host.toUpperCase() : host
        return `${upper ? 'HTTP' : 'http'}://${name}${port && own === '' ? ':80' : ''}${pathname}${slash ? '/' : ''}`
      })
    const changed = fc
      .tuple(fc.constantFrom(...bases), fc.constantFrom('x', '/x', '//', '?x', '#x', '%2F', ':1', '@x', '.x', '\\x'))
      .map(([base, more]) => base + more)
    await fc.assert(
      fc.asyncProperty(fc.array(spelt, { minLength: 1, maxLength: 3 }), changed, async (good, bad) => {
        expect((await renew(token, good)).status).toBe(200)
        expect((await renew(token, [...good, bad])).json.error).toBe('invalid_target')
      }),
      { numRuns: times(300, 25), seed },
    )
  })

  it('may come with every scope of the tools, as their document has them: the member sees those of the client', async () => {
    const scopes = ['svc.me.profile:read', 'svc.me.groups:read'] as const
    const few = await register(auth.world, { scopes: [...scopes] })
    const document = await auth.world.send('GET', '/.well-known/oauth-protected-resource/v1/mcp', { host: 'sync.test' })
    const { resource, scopes_supported } = document.body
    const { url } = auth.authorizeUrl({ client: few, scope: scopes_supported.join(' '), more: { resource } })
    const page = await auth.toConsent(auth.newBrowser(), url, auth.world.ids.member)
    expect(offered(page, 'scope')).toEqual([...scopes])
  })
})
