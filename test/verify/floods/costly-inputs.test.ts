import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documents } from '../../../rest-facade/openapi.ts'
import type { World } from '../../support/world.ts'
import { startWorld } from '../../support/world.ts'
import { startAlone } from '../memory/large-store.ts'
import { cpuMs } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'
import { shapes } from './costly-shapes.ts'

/** CPU time beyond that of an ordinary input of the same length. */
const MAX_MS = 20
/** Node refuses heads of more than 16 KiB. */
const LENGTH = 15_000

interface Input {
  method?: string
  host?: string
  port?: number
  path: string
  headers?: Record<string, string>
  body?: string
}

let node: Awaited<ReturnType<typeof startAlone>>
let world: World
let authorization: string
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  world = await startWorld()
  node = await startAlone()
  authorization = `Bearer ${await node.token(world)}`
  await world.db.client.update({ where: { id: world.ids.client }, data: { environment: 'sandbox' } })
}, 120_000)
afterAll(async () => {
  agent.destroy()
  await world.close()
})

const ask = ({ method = 'GET', host = 'apps.localhost', port = node.port, path, headers, body }: Input) =>
  new Promise<void>((resolve) => {
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers: { host, ...headers } })
    sent.on('response', (response) =>
      response
        .resume()
        .on('end', resolve)
        .on('error', () => resolve()),
    )
    // Bytes that are not HTTP are refused, and the connection is closed.
    sent.on('error', () => resolve())
    sent.end(body)
  })

async function cpuOf(input: Input): Promise<number> {
  const before = await cpuMs(node.pid)
  await ask(input)
  return (await cpuMs(node.pid)) - before
}

async function leastOf(rounds: number, input: Input): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < rounds; i++) least = Math.min(least, await cpuOf(input))
  return least
}

/** Those of the shapes that cost more than MAX_MS beyond an ordinary text, in each of four tries. */
async function costly(inputOf: (text: string) => Input | undefined): Promise<string[]> {
  const plain = inputOf('a'.repeat(LENGTH))
  if (!plain) return []
  const ordinary = await leastOf(3, plain)
  const found: string[] = []
  for (const { name, text } of shapes(LENGTH)) {
    const input = inputOf(text)
    if (!input) continue
    const first = await cpuOf(input)
    worst = Math.max(worst, Math.min(first, MAX_MS) - ordinary)
    if (first - ordinary <= MAX_MS) continue
    const again = Math.min(first, await leastOf(3, input)) - ordinary
    if (again > MAX_MS) found.push(`${name}: ${again.toFixed(0)} ms`)
  }
  return found
}
let worst = 0

/** Latin-1, as Node sends headers; without what it refuses to send. */
const headerOf = (text: string) => (/^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : undefined)

const HEADERS = [
  ...['accept', 'accept-language', 'accept-encoding', 'accept-charset', 'authorization', 'cookie', 'content-type'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'idempotency-key', 'last-event-id', 'origin', 'referer'],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded', 'traceparent', 'tracestate', 'baggage'],
  ...['range', 'te', 'upgrade', 'via', 'user-agent', 'x-request-id', 'trpc-accept', 'dpop', 'prefer', 'priority'],
  ...['cache-control', 'pragma', 'content-encoding', 'content-language', 'content-disposition', 'transfer-encoding'],
  ...['access-control-request-method', 'access-control-request-headers', 'x-http-method-override', 'expect', 'host'],
]

const AUTHORIZE =
  '/v1/oauth/authorize?client_id=c&redirect_uri=http://localhost/&response_type=code&scope=svc.me.profile:read'

/** By name: where headers are sent. */
const places: Record<string, () => Input> = {
  'GET /me/profile': () => ({ path: '/v1/me/profile', headers: { authorization } }),
  'GET /collections/{collection}/changes': () => ({
    ...{ host: 'sync.localhost', path: '/v1/collections/c/changes', headers: { authorization } },
  }),
  'PUT /storage/{collection}/{key}': () => ({
    method: 'PUT',
    path: '/v1/storage/c/k',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"value":1}',
  }),
  'a preflight': () => ({ method: 'OPTIONS', path: '/v1/storage/c/k' }),
  'an unknown path': () => ({ path: '/unknown' }),
  authorize: () => ({ host: 'auth.localhost', path: AUTHORIZE }),
  token: () => ({
    ...{ method: 'POST', host: 'auth.localhost', path: '/v1/oauth/token', body: 'grant_type=refresh_token' },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  'connected apps': () => ({ host: 'auth.localhost', path: '/v1/oauth/connected' }),
  'the docs': () => ({ path: '/v1/docs/style.css' }),
  'a procedure over tRPC': () => ({ port: node.internalPort, path: '/trpc/me.profile', headers: { authorization } }),
  metrics: () => ({ port: node.internalPort, path: '/metrics' }),
}

describe.each(Object.keys(places))('at %s', (name) => {
  it.each(HEADERS)('no shape of %s costs 20 ms', { timeout: 120_000 }, async (header) => {
    const found = await costly((text) => {
      const value = headerOf(text)
      const { headers, ...place } = places[name]!()
      return value === undefined ? undefined : { ...place, headers: { ...headers, [header]: value } }
    })
    expect(found).toEqual([])
  })
})

const OAUTH = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'code_challenge'],
  ...[
    'code_challenge_method',
    'prompt',
    'max_age',
    'ui_locales',
    'login_hint',
    'id_token_hint',
    'acr_values',
    'claims',
  ],
  ...['claims_locales', 'resource', 'request', 'request_uri', 'registration', 'display', 'iss', 'client_assertion'],
  ...['client_assertion_type', 'client_secret', 'grant_type', 'code', 'code_verifier', 'refresh_token', 'token'],
  ...['device_code', 'user_code', 'post_logout_redirect_uri', 'logout_hint', 'dpop_jkt', 'authorization_details'],
]

const encoded = (text: string) => encodeURIComponent(text).slice(0, LENGTH).replace(/%.?$/, '')
const query = (path: string, name: string, text: string) =>
  `${path}${path.includes('?') ? '&' : '?'}${name}=${encoded(text)}`

describe.each(['authorize', 'end-session', 'connected', 'device'])('at %s', (page) => {
  it.each(OAUTH)('no shape of the parameter %s costs 20 ms', { timeout: 120_000 }, async (name) => {
    const path = page === 'authorize' ? AUTHORIZE : `/v1/oauth/${page}`
    expect(await costly((text) => ({ host: 'auth.localhost', path: query(path, name, text) }))).toEqual([])
  })

  it('no shape of the query itself costs 20 ms', { timeout: 120_000 }, async () => {
    const path = `/v1/oauth/${page}`
    const found = await costly((text) => ({
      host: 'auth.localhost',
      path: `${path}?${encodeURI(text).slice(0, LENGTH)}`,
    }))
    expect(found).toEqual([])
  })
})

describe.each(['token', 'token/revocation', 'device/auth', 'authorize'])('at POST %s', (endpoint) => {
  const post = (body: string) => ({
    method: 'POST',
    host: 'auth.localhost',
    path: `/v1/oauth/${endpoint}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })
  it.each(OAUTH)('no shape of the field %s costs 20 ms', { timeout: 120_000 }, async (name) => {
    expect(await costly((text) => post(`client_id=c&grant_type=refresh_token&${name}=${encoded(text)}`))).toEqual([])
  })

  it('no shape of the body itself costs 20 ms', { timeout: 120_000 }, async () => {
    expect(await costly((text) => post(text))).toEqual([])
  })
})

const operations = Object.values(documents).flatMap(({ paths }) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: `/v1${path}`,
      parameters: (parameters as { name: string; in: string }[]).filter((one) => one.in === 'query'),
      hasBody: requestBody !== undefined,
    })),
  ),
)
const hostOf = (path: string) => {
  if (path.startsWith('/v1/quizzes')) return 'lms.localhost'
  if (path.startsWith('/v1/apps')) return 'notify.localhost'
  return /^\/v1\/(?:collections|batch|events|quiz-results|quizzes)/.test(path) ? 'sync.localhost' : 'apps.localhost'
}

describe.each(operations)('at $name', ({ method, path, parameters, hasBody }) => {
  const at = (address: string, body?: string): Input => ({
    method,
    host: hostOf(path),
    path: address,
    headers: { authorization, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  })
  const plain = path.replace(/\{\w+\}/g, 'a')
  const body = hasBody ? '{"value":1}' : undefined

  it('no shape of a parameter costs 20 ms', { timeout: 300_000 }, async () => {
    const found: string[] = []
    for (const { name } of parameters) found.push(...(await costly((text) => at(query(plain, name, text), body))))
    const inPath = path.match(/\{\w+\}/g) ?? []
    for (const name of inPath) {
      found.push(...(await costly((text) => at(path.replace(name, encoded(text)).replace(/\{\w+\}/g, 'a'), body))))
    }
    expect(found).toEqual([])
  })

  it.runIf(hasBody)('no shape of the body, or of a value in it, costs 20 ms', { timeout: 300_000 }, async () => {
    const found = await costly((text) => at(plain, text))
    for (const field of ['value', 'answers', 'url', 'secret', 'operations']) {
      found.push(...(await costly((text) => at(plain, JSON.stringify({ [field]: text })))))
      found.push(...(await costly((text) => at(plain, `{"${field}":${text}}`))))
    }
    expect(found).toEqual([])
  })
})

it('notes the most that an input cost beyond an ordinary one', () => {
  noteFigure({ name: 'the costliest input of 15 kB, beyond an ordinary one', value: worst, unit: 'ms', bound: MAX_MS })
})
