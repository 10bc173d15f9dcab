import { describe, it } from 'vitest'
import { redirectUri, register } from '../../oauth/auth-world.ts'
import { started } from '../../support/started.ts'
import { startWorld } from '../../support/world.ts'
import type { Input } from './costly-inputs.ts'
import { expectCheap, findHeader, IN_HEAD, noLimits } from './costly-inputs.ts'
import { jsonShapes } from './costly-shapes.ts'

const one = started(
  async () => {
    const world = await startWorld({ auth: {}, limits: noLimits, trustedProxies: ['127.0.0.1'], onLog: () => {} })
    const [token, client] = [await world.token(), await register(world)]
    return { world, token, client, port: world.publicPort, internalPort: world.internalPort }
  },
  ({ world }) => world.close(),
)

const NAMES = `
  accept accept-language accept-encoding accept-charset authorization cookie content-type if-match if-none-match
  if-modified-since if-range idempotency-key last-event-id origin x-forwarded-for x-forwarded-proto
  x-forwarded-host forwarded traceparent tracestate baggage range te upgrade via user-agent x-request-id
  trpc-accept dpop prefer priority cache-control pragma content-encoding content-language content-disposition
  transfer-encoding access-control-request-method access-control-request-headers x-http-method-override expect
  host sec-fetch-site referer x-real-ip connection keep-alive x-unknown
`
  .trim()
  .split(/\s+/)

const base64 = (text: string) => Buffer.from(text).toString('base64url')
const header = base64('{"alg":"ES256","typ":"at+jwt","kid":"test"}')

/** Around a shape: the part of a header that has a parser of its own. */
const AROUND: [name: string, value: (text: string) => string][] = [
  ['authorization', (text) => `Bearer ${text}`],
  ['authorization', (text) => `Basic ${text}`],
  ['authorization', (text) => `Basic ${Buffer.from(text.slice(0, 11_000)).toString('base64')}`],
  ['authorization', (text) => `Basic ${Buffer.from(`a:${text.slice(0, 11_000)}`).toString('base64')}`],
  ['cookie', (text) => `_session=${text}`],
  ['cookie', (text) => `_session=a; _session.legacy=b; member_browser=${text}`],
  ['content-type', (text) => `application/json;${text}`],
  ['content-type', (text) => `application/json; charset=${text}`],
  ['content-type', (text) => `application/x-www-form-urlencoded;${text}`],
  ['content-type', (text) => `multipart/form-data; boundary=${text}`],
  ['if-match', (text) => `"${text}"`],
  ['traceparent', (text) => `00-${text}`],
  ['origin', (text) => `https://${text}`],
  ['host', (text) => `[${text}]:80`],
]

/** JSON in a token: its header, its claims, one of them. */
const JSON_IN_TOKEN: ((json: string) => string)[] = [
  (json) => `${base64(json)}.${base64('{}')}.${'A'.repeat(86)}`,
  (json) => `${base64(`{"alg":"ES256","typ":"at+jwt","kid":${json}}`)}.${base64('{}')}.${'A'.repeat(86)}`,
  (json) => `${header}.${base64(json)}.${'A'.repeat(86)}`,
  (json) => `${header}.${base64(`{"iss":${json},"aud":"a"}`)}.${'A'.repeat(86)}`,
]
/** Base64 takes a third more, and this is what remains of a head. */
const IN_TOKEN = 10_800

const authorization = () => `Bearer ${one.token}`
/** By name: where headers are sent. */
const places: Record<string, () => Omit<Input, 'port'> & { port?: number }> = {
  'GET /me/profile': () => ({ path: '/v1/me/profile', headers: { authorization: authorization() } }),
  'GET /collections/{collection}/changes': () => ({
    host: 'sync.test',
    path: '/v1/collections/c/changes',
    headers: { authorization: authorization() },
  }),
  'PUT /storage/{collection}/{key}': () => ({
    method: 'PUT',
    path: '/v1/storage/c/k',
    headers: { authorization: authorization(), 'content-type': 'application/json' },
    body: '{"value":1}',
  }),
  'a preflight': () => ({ method: 'OPTIONS', path: '/v1/storage/c/k' }),
  'an unknown path': () => ({ path: '/unknown' }),
  authorize: () => {
    const query = {
      client_id: one.client,
      response_type: 'code',
      redirect_uri: redirectUri,
      code_challenge: 'a'.repeat(43),
    }
    const search = new URLSearchParams({ ...query, code_challenge_method: 'S256', scope: 'svc.me.profile:read' })
    return { host: 'auth.test', path: `/v1/oauth/authorize?${search}` }
  },
  token: () => ({
    method: 'POST',
    host: 'auth.test',
    path: '/v1/oauth/token',
    body: 'grant_type=client_credentials',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  userinfo: () => ({ host: 'auth.test', path: '/v1/oauth/userinfo', headers: { authorization: authorization() } }),
  'connected apps': () => ({ host: 'auth.test', path: '/v1/oauth/connected' }),
  'a form of the portal': () => ({
    method: 'POST',
    host: 'auth.test',
    path: '/v1/oauth/developers/teams/t/apps',
    body: 'name=a',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://auth.test' },
  }),
  'the docs': () => ({ path: '/v1/docs/style.css' }),
  'a procedure over tRPC': () => ({
    method: 'POST',
    port: one.internalPort,
    host: 'localhost',
    path: '/trpc/storage.put',
    body: '{"collection":"c","key":"k","value":1}',
    headers: { authorization: authorization(), 'content-type': 'application/json' },
  }),
  metrics: () => ({ port: one.internalPort, host: 'localhost', path: '/metrics' }),
}

describe.each(Object.keys(places))('at %s', (place) => {
  const sent = (name: string, text: string): Input | undefined => {
    const value = findHeader(text)
    const { headers, ...input } = places[place]!()
    return value === undefined ? undefined : { port: one.port, ...input, headers: { ...headers, [name]: value } }
  }

  it('no header costs 20 ms more than an ordinary one', async () => {
    for (const name of NAMES) await expectCheap(`${place}, ${name}`, (text) => sent(name, text), IN_HEAD)
  })

  it('no part of a header costs 20 ms more than an ordinary one', async () => {
    for (const [name, value] of AROUND) {
      const title = `${place}, ${name}: ${value('…')}`
      await expectCheap(title, (text) => sent(name, value(text)), IN_HEAD)
    }
  })

  it('no token costs 20 ms more than an ordinary one', async () => {
    for (const [at, makeToken] of JSON_IN_TOKEN.entries()) {
      const title = `${place}, JSON ${at} in a token`
      const withToken = (json: string) => sent('authorization', `Bearer ${makeToken(json)}`)
      await expectCheap(title, (text) => withToken(JSON.stringify(text)), IN_TOKEN - 200)
      await expectCheap(title, withToken, IN_TOKEN, jsonShapes)
    }
  })
})
