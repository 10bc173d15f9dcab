import type { TRPCClientError } from '@trpc/client'
import { createTRPCClient, httpBatchStreamLink, httpLink } from '@trpc/client'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { body } from '../raw/arbitraries.ts'
import { mintApp, platformClaims } from '../support/platform.ts'
import type { Reply } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const world = started(() => startWorld({ onLog }))
const tokens: Record<string, string> = { broken: 'x' }
const log: string[] = []
const onLog = (line: string) => void log.push(line)
const at = '{"collection":"c","key":"k"}'
const put = '{"collection":"c","key":"k","value":{"a":[1,null]}}'

beforeAll(async () => {
  const { ids, token } = world
  Object.assign(tokens, {
    club: await token(),
    academy: await token({ organisation: ids.academy }),
    provider: await token({ organisation: ids.provider }),
    platform: await token(platformClaims(world)),
    scopeless: await token({ scope: '' }),
  })
  const stopped = world.core.now()
  world.core.now = () => stopped
  await ask('POST storage.put', { body: put })
})

interface Sent {
  on?: World
  /** The name of a token. */
  by?: string | null
  input?: string | undefined
  query?: string
  body?: string | Uint8Array | undefined
  headers?: Record<string, string>
}

/** `line` is the method and the path behind `/trpc/`. */
function ask(line: string, { on = world, by = 'club', input, query, ...sent }: Sent, more?: string): Promise<Reply> {
  const [method, path] = line.split(' ') as [string, string]
  const search = [input === undefined ? '' : `input=${encodeURIComponent(input)}`, query, more].filter(Boolean)
  return on.internal(method, `/trpc/${path}${search.length > 0 ? '?' : ''}${search.join('&')}`, {
    ...sent,
    headers: {
      'x-request-id': 'same',
      ...(by !== null && { authorization: `Bearer ${tokens[by]}` }),
      ...sent.headers,
    },
  })
}

/** `connectionParams`, which this service does not use, sends a call through tRPC's own adapter. */
const through = (line: string, sent: Sent) => ask(line, sent, 'connectionParams=null')

/** Differs in two answers: each write has an ETag of its own. */
const etagField = /,"etag":"\\"[0-9a-f-]{36}\\""/

/** Drops from an answer what may differ between two equal requests. */
function comparable({ status, headers, text }: Reply) {
  const { date, etag, ratelimit, 'retry-after': after, ...others } = headers
  const varying = Object.keys({ date, etag, ratelimit, after }).filter((name) => headers[name])
  const same = text.replace(/in \d+ s\./, '').replace(etagField, '')
  return { status, text: same, headers: others, varying }
}

const left = ({ headers }: Reply) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1] ?? 0)

/** Without those of a timer: a service whose database was away counts what it has refused 5 s later. */
const findRequestLines = () => log.filter((line) => line.includes('"same"'))

/** Expects equal answers, log lines and use of the quota on both ways. */
async function expectSame(line: string, sent: Sent) {
  log.length = 0
  const [plain, adapted] = [await ask(line, sent), await through(line, sent)]
  expect(comparable(plain)).toEqual(comparable(adapted))
  expect(left(adapted)).toBe(Math.max(0, left(plain) - 1))
  await expect.poll(() => findRequestLines().length).toBe(2)
  const [first, second] = findRequestLines().map((text) => {
    const { err, ...line } = JSON.parse(text)
    return { ...line, err: err?.message, time: 0, ms: 0 }
  })
  expect(first).toEqual(second)
  return plain
}

describe("a single call gets the answer of tRPC's own adapter:", () => {
  it.each<[status: number, line: string, sent: Sent]>([
    [200, 'GET root', {}],
    [200, 'GET me.profile', {}],
    [200, 'GET me.profile', { input: 'null' }],
    [200, 'GET me.profile', { input: '{"a":1}', query: 'input=[' }],
    [200, 'GET me.profile', { query: 'batch=0' }],
    [200, 'GET me.profile', { query: 'batch=2&batch=1' }],
    [200, 'GET me.profile', { query: 'batch=1&batch=2&input={}' }],
    [200, 'GET me.profile', { headers: { accept: 'application/jsonl', 'trpc-accept': 'application/json' } }],
    [400, 'GET me.profile', { headers: { 'trpc-accept': 'application/jsonl' } }],
    [400, 'GET me.profile', { headers: { accept: 'text/html , application/jsonl' } }],
    [200, 'GET me.profile', { headers: { accept: 'application/jsonl;q=1' } }],
    [200, 'GET me.events', {}],
    [200, 'GET storage.get', { input: at }],
    [200, 'GET storage.get', { input: ` ${at}\n`, headers: { 'if-none-match': '*' } }],
    [200, 'GET storage.list', { input: '{"collection":"c"}' }],
    [200, 'POST storage.put', { body: put }],
    [200, 'POST storage.put', { body: `\r\n${put} `, query: 'input=[' }],
    [200, 'POST webhook.put', { by: 'provider', body: '{"id":"$app","url":"https://a.b"}' }],
    [200, 'POST webhook.delete', { by: 'provider', body: '{"id":"$app"}' }],
    [200, 'GET subscriptions.list', { by: 'platform', input: '{"app":"$app"}' }],
    [200, 'GET deliveries.list', { by: 'platform', input: '{}' }],
    [200, 'POST events.publish', { by: 'platform', body: '{"app":"$app","type":"t","data":1,"id":"e"}' }],

    [200, 'GET me.profile', { query: 'batch=1' }],
    [200, 'GET storage.get', { query: 'batch=1', input: `{"0":${at}}` }],
    [200, 'POST storage.put', { query: 'batch=1', body: `{"0":${put}}` }],
    [200, 'POST storage.put', { query: 'batch=1', body: `{"1":[],"0":${put}}` }],
    [403, 'GET me.profile', { query: 'batch=1', by: 'scopeless' }],
    [401, 'GET me.profile', { query: 'batch=1', by: 'broken' }],
    [404, 'GET storage.get', { query: 'batch=1', input: '{"0":{"collection":"c","key":"none"}}' }],
    [422, 'GET storage.get', { query: 'batch=1', input: '{"1":{"collection":"c","key":"k"}}' }],
    [422, 'GET storage.get', { query: 'batch=1', input: '{"0":null}' }],
    [400, 'GET storage.get', { query: 'batch=1', input: '[]' }],
    [400, 'GET storage.get', { query: 'batch=1', input: '{' }],
    [400, 'POST storage.put', { query: 'batch=1', body: 'null' }],
    [400, 'POST storage.put', { query: 'batch=1', body: '' }],
    [400, 'POST storage.put', { query: 'batch=1', body: `{"0":` }],

    [401, 'GET me.profile', { by: null }],
    [401, 'GET me.profile', { by: 'broken' }],
    [401, 'POST storage.put', { by: 'broken', body: '{' }],
    [403, 'GET me.profile', { by: 'scopeless' }],
    [401, 'GET me.profile', { by: 'platform' }],
    [404, 'GET me.profile', { by: 'academy' }],
    [403, 'POST events.publish', { body: '{}' }],
    [404, 'GET storage.get', { input: '{"collection":"c","key":"none"}' }],
    [412, 'POST storage.put', { body: put.replace('{', '{"ifMatch":"\\"x\\"",') }],
    [404, 'POST storage.delete', { body: '{"collection":"c","key":"none"}' }],
    [404, 'POST quizzes.submit', { by: 'academy', body: '{"quizId":"none","answers":{}}' }],

    [422, 'GET storage.get', {}],
    [422, 'GET storage.get', { input: 'null' }],
    [422, 'GET storage.get', { input: '[]' }],
    [422, 'GET storage.get', { input: '{"0":{"collection":"c","key":"k"}}' }],
    [422, 'GET storage.get', { input: '{"__proto__":{"collection":"c","key":"k"}}' }],
    [400, 'GET storage.get', { input: '' }],
    [400, 'GET storage.get', { input: '{' }],
    [400, 'GET storage.get', { query: 'input=%ff' }],
    [400, 'GET storage.get', { input: `\ufeff${at}` }],
    [400, 'GET storage.get', { input: '['.repeat(300) + ']'.repeat(300) }],
    [415, 'POST storage.put', {}],
    [400, 'POST storage.put', { body: '' }],
    [400, 'POST storage.put', { body: ' ' }],
    [400, 'POST storage.put', { body: 'null' }],
    [400, 'POST storage.put', { body: '{' }],
    [200, 'POST storage.put', { body: `\ufeff${put}` }],
    [400, 'POST storage.put', { body: Buffer.from(`${put.slice(0, -2)},"\xff":1}}`, 'latin1') }],
    [400, 'POST storage.put', { body: put.replace('1', '['.repeat(257) + ']'.repeat(257)) }],
    [415, 'POST storage.put', { body: put, headers: { 'content-type': 'text/plain' } }],
    [200, 'POST storage.put', { body: put, headers: { 'content-type': 'Application/JSON ;charset=utf-8' } }],

    [405, 'POST me.profile', { body: '{}' }],
    [405, 'GET storage.put', { input: put }],
    [405, 'HEAD me.profile', {}],
    [405, 'PUT storage.put', { body: put }],
    [405, 'OPTIONS me.profile', {}],

    ...[
      'none',
      'me',
      'me.none',
      'me.profile.x',
      'ME.PROFILE',
      'toString',
      '__proto__',
      'me.__proto__',
      'me.constructor',
    ]
      .concat('', '.', '..', '%2e%2e', '../me.profile', 'me%2F..', '/me.profile', 'me.profile/', 'me.profile%2F')
      .concat('me/profile', 'me\\profile', 'me.profile%23', 'me.profile%00', 'me.profile,root', ',', '_def')
      .map((path): [number, string, Sent] => [404, `GET ${path}`, {}]),
    [404, 'POST none', { body: '{}' }],
    [200, 'GET me%2Eprofile', {}],
    [200, 'GET %6de.profile', {}],
    [400, 'GET me.profile%', {}],
    [400, 'GET me.profile%ff', {}],
  ])('%i for %s %j', async (status, line, sent) => {
    const own = (text: Sent['body']) => (typeof text === 'string' ? text.replace('$app', world.ids.app) : text)
    const filled = Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, own(value as string)]))
    expect(await expectSame(line, filled)).toMatchObject({ status })
  })

  it('413 for a body that is too large', async () => {
    const [body, large] = [1, 11].map((MiB) => `"${'x'.repeat(MiB * 1024 * 1024)}"`)
    expect(await expectSame('POST storage.delete', { body })).toMatchObject({ status: 413 })
    expect(await expectSame('POST storage.put', { body: large })).toMatchObject({ status: 413 })
  })

  it('429 beyond the limit', async () => {
    const { db, ids } = world
    const [team, client] = [id('team'), id('client')]
    await db.team.create({ data: { id: team, name: 'Team', level: 'hobby' } })
    await db.client.create({
      data: { id: client, name: 'Client', teamId: team, appId: ids.app, environment: 'production' },
    })
    tokens.hobby = await world.token({ client_id: client })
    for (let i = 0; i < 60; i++) await ask('GET root', { by: 'hobby' })
    expect(await expectSame('GET root', { by: 'hobby' })).toMatchObject({ status: 429 })
  })

  it('500 with the cause in the log alone', async () => {
    const { published } = world.core
    const app = await mintApp(world)
    world.core.published = () => {
      throw new Error('the cause')
    }
    const event = (id: string) => ({ body: JSON.stringify({ app, id, type: 't', data: 1 }), by: 'platform' }) as const
    log.length = 0
    const plain = await ask('POST events.publish', event('a'))
    const adapted = await through('POST events.publish', event('b'))
    world.core.published = published
    expect(plain.status).toBe(500)
    expect(plain.text).toContain('Something went wrong on our side.')
    expect(plain.text).not.toMatch(/the cause|stack|\.ts/)
    expect(comparable(plain)).toEqual(comparable(adapted))
    await expect.poll(() => log.length).toBe(2)
    for (const line of log) expect(line).toContain('the cause')
  })

  it('503 while the database is unavailable', async () => {
    const on = await startWorld({ databaseUrl: 'postgresql://postgres@127.0.0.1:1/none', onLog })
    tokens.away = await on.token()
    // From the second request on the breaker words the error.
    expect(await on.call('GET', '/')).toMatchObject({ status: 503 })
    // The log has the reason of a port's first refusal alone.
    await expectSame('GET root', { on, by: 'away' }).catch(() => {})
    log.length = 0
    expect(await expectSame('GET root', { on, by: 'away' })).toMatchObject({ status: 503 })
    await on.close()
  })

  it('for any input', async () => {
    const path = fc.constantFrom('me.events', 'storage.get', 'storage.list', 'storage.put')
    const fitting = body.map((bytes) => Buffer.concat([Buffer.from(put.slice(0, -9)), bytes, Buffer.from('}')]))
    await fc.assert(
      fc.asyncProperty(path, fc.oneof(body, fitting), async (name, bytes) => {
        if (name === 'storage.put') await expectSame(`POST ${name}`, { body: bytes })
        else await expectSame(`GET ${name}`, { input: bytes.toString() })
      }),
      { numRuns: times(600, 50) },
    )
  })
})

describe('a single call', () => {
  it.each([
    ['GET me.profile', {}, 0],
    ['GET storage.get', { input: at }, 0],
    ['GET storage.get', { input: 'null' }, 0],
    ['POST storage.put', { body: put }, 0],
    ['POST storage.put', { body: '{}' }, 0],
    ['GET me.profile', { query: 'batch=1' }, 0],
    ['POST storage.put', { query: 'batch=1', body: `{"0":${put}}` }, 0],
    ['GET me.profile,root', { query: 'batch=1' }, 1],
    ['GET me.profile', { query: 'connectionParams=null' }, 1],
  ] as const)('%s %j constructs %i Requests', async (line, sent, count) => {
    const { Request } = globalThis
    let made = 0
    globalThis.Request = class extends Request {
      constructor(...given: ConstructorParameters<typeof Request>) {
        super(...given)
        made++
      }
    }
    await ask(line, sent).finally(() => {
      globalThis.Request = Request
    })
    expect(made).toBe(count)
  })
})

const options = (claims: Record<string, unknown> = {}) => ({
  url: `http://127.0.0.1:${world.internalPort}/trpc`,
  headers: async () => ({ authorization: `Bearer ${await world.token(claims)}` }),
})
const client = (claims?: Record<string, unknown>) => createTRPCClient<AppRouter>({ links: [httpLink(options(claims))] })

const failure = (error: unknown) => {
  const { data, message } = error as TRPCClientError<AppRouter>
  return { message, status: data?.httpStatus, error: data?.error, reason: data?.reason }
}

describe('a first-party app over tRPC', () => {
  it.each(['trpc-accept', 'accept'] as const)(
    'gets a batch in lines, for which it asks by %s',
    async (streamHeader) => {
      const link = httpBatchStreamLink<AppRouter>({ ...options(), streamHeader })
      const { me, root } = createTRPCClient<AppRouter>({ links: [link] })
      const [profile, service] = await Promise.all([me.profile.query(), root.query()])
      expect([profile.id, service.api]).toEqual([world.ids.member, 'apps'])
    },
  )

  it('sends numbers as numbers, even after REST has read them from a query', async () => {
    await world.call('GET', '/storage/c?limit=5&offset=0')
    const reply = await client()
      .storage.list.query({ collection: 'c', limit: '5' as never })
      .catch(failure)
    expect(reply).toMatchObject({ status: 422, message: 'limit is 1 to 200.' })
  })
})

describe('an app in process', () => {
  it('calls procedures with a principal, behind the same checks', async () => {
    const call = callAs(world.core, world.principal())
    const at = { collection: 'local', key: 'k' }
    expect(await call.storage.put({ ...at, value: { a: 1 } })).toMatchObject({ key: 'k', value: { a: 1 } })
    expect(await call.storage.get(at)).toMatchObject({ value: { a: 1 } })
    expect(await call.me.membercard()).toEqual({ card: null })
    const scopeless = callAs(world.core, world.principal({ scopes: new Set() }))
    await expect(scopeless.me.profile()).rejects.toMatchObject({ status: 403 })
    await expect(scopeless.root()).resolves.toMatchObject({ api: 'apps' })
    await expect(call.storage.put({ ...at, value: 1n as unknown as Json })).rejects.toMatchObject({ status: 400 })
    const circle: unknown[] = []
    circle.push(circle)
    await expect(call.storage.put({ ...at, value: circle as Json[] })).rejects.toMatchObject({
      message: 'value contains something that JSON cannot represent.',
    })
    expect(await call.storage.get(at)).toMatchObject({ value: { a: 1 } })
    const value = { note: undefined, at: new Date(0) } as unknown as Json
    const overHttp = await client().storage.put.mutate({ ...at, value })
    expect((await call.storage.put({ ...at, value })).value).toEqual(overHttp.value)
    expect((await world.call('GET', '/storage/local/k')).text).toContain('"value":{"at":"1970-01-01T00:00:00.000Z"},')
  })
})

describe('the internal port', () => {
  it('serves /healthz and /readyz without a token', async () => {
    expect(await world.internal('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await world.internal('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
    expect(await world.internal('POST', '/readyz', { body: {} })).toMatchObject({ status: 405 })
  })

  it('logs probes that fail, and not those that succeed', async () => {
    const lines: string[] = []
    const own = await startWorld({ onLog: (line) => lines.push(line) })
    for (const path of ['/healthz', '/readyz']) expect((await own.internal('GET', path)).status).toBe(200)
    expect((await own.internal('POST', '/readyz', { body: {} })).status).toBe(405)
    await own.close()
    expect(lines.map((line) => JSON.parse(line).path)).toEqual(['/readyz'])
  })

  it('serves no REST, and the public port no tRPC', async () => {
    expect(await world.internal('GET', '/v1/me/profile', { headers: { host: 'apps.test' } })).toMatchObject({
      status: 404,
    })
    const reply = await world.call('GET', '', { host: 'apps.test' })
    expect(reply.status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${world.publicPort}/trpc/root`)).status).toBe(404)
  })
})
