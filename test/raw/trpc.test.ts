import { createTRPCClient, httpBatchLink } from '@trpc/client'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AppRouter } from '../../routers/index.ts'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import { platformClaims } from '../support/platform.ts'
import { started, useWorld } from '../support/started.ts'
import type { Sent } from './raw-service.ts'
import { nested, nestedObjects, nothingHere, titled } from './raw-service.ts'
import { Connection } from './socket.ts'
import { expectBody, put, shape, startTrpcService } from './trpc-service.ts'

const service = started(startTrpcService)

const call: typeof service.call = (...given) => service.call(...given)
const expectRefused: typeof service.expectCallRefused = (...given) => service.expectCallRefused(...given)

describe('a path', () => {
  it.each([
    ['..', ''],
    ['../abcd/me.profile', '../abcd/me.profile'],
    ['..\\abcd\\me.profile', '..\\abcd\\me.profile'],
    ['me.profile%23', 'me.profile#'],
    ['me.profile#', 'me.profile#'],
  ])('"%s" returns 404', async (sent, path) => {
    await expectRefused(`GET /trpc/${sent}`, {}, 404, `No procedure found on path "${path}"`, path)
  })

  it('may be absolute, with any host', async () => {
    for (const host of ['localhost', 'evil.test', '[bad']) {
      expect(await call(`GET http://${host}/trpc/root`)).toMatchObject({ status: 200 })
    }
  })

  it('may be 10 KB long; the error message is truncated', async () => {
    const path = 'x'.repeat(10_240)
    const message = `No procedure found on path "${path}`.slice(0, 200)
    await expectRefused(`GET /trpc/${path}`, {}, 404, message, path)
  })

  it.each([
    '/',
    '/trpc',
    '/trpc?batch=1',
    '/TRPC/root',
    '//trpc/root',
    '/x/../trpc/root',
    'http://[bad/',
    '//[bad',
    '*',
    '/%zz',
    '/healthz%00',
    '/v1/',
  ])('outside tRPC returns 404: %s', async (target) => {
    const answer = await call(`GET ${target}`)
    const request_id = answer.headers['x-request-id']
    expectBody(answer, 404, { error: { code: 'not_found', message: nothingHere, request_id } })
  })
})

describe('the method', () => {
  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])('%s returns 405', async (method) => {
    const answer = await call(`${method} /trpc/storage.put`, { body: put('1') })
    const request_id = answer.headers['x-request-id']
    expectBody(answer, 405, { error: { code: 'method_not_allowed', message: 'Use GET, POST here.', request_id } })
    expect(answer.headers.allow).toBe('GET, POST')
  })
})

describe('a token', () => {
  it('is not required to learn that a procedure does not exist', async () => {
    await expectRefused('GET /trpc/nothing', { token: null }, 404, expect.any(String), 'nothing')
  })
})

describe('a batch', () => {
  it.each(['[]', '[{"collection":"c"}]', 'null', '1', '"x"', 'true'])(
    'returns 400 for the inputs %s',
    async (inputs) => {
      const message = 'The body is not a JSON object.'
      const one = async (line: string, sent: Sent, path: string) => {
        const answer = await call(line, sent)
        expectBody(answer, 400, [shape(400, message, path)])
      }
      await one(`GET /trpc/storage.list?batch=1&input=${inputs}`, {}, 'storage.list')
      await one('POST /trpc/storage.put?batch=1', { body: inputs }, 'storage.put')
    },
  )

  it('answers each call separately', async () => {
    const inputs = `{"0":${put('1')},"1":{"collection":"c","key":"k"},"2":{"collection":"\\u0000"},"__proto__":{}}`
    const answer = await call('POST /trpc/storage.put,storage.put,storage.put,constructor?batch=1', { body: inputs })
    expectBody(answer, 207, [
      { result: { data: { key: 'k', value: 1, updatedAt: expect.any(Number), etag: expect.any(String) } } },
      shape(400, 'value is missing.', 'storage.put'),
      shape(422, "Names use 1 to 64 letters, digits, '_' or '-'.", 'storage.put'),
      shape(404, 'No procedure found on path "constructor"', 'constructor'),
    ])
  })

  it('must not mix queries and mutations', async () => {
    await expectRefused('GET /trpc/root,storage.put?batch=1', {}, 400, expect.stringContaining('Cannot mix'))
  })

  it('of empty paths returns 404 for each of them', async () => {
    const answer = await call('GET /trpc/,,,?batch=1')
    const nothing = shape(404, 'No procedure found on path ""', '')
    expectBody(answer, 404, [nothing, nothing, nothing, nothing])
  })

  it('may be streamed; invalid ones are refused in JSON', async () => {
    const headers = ['trpc-accept: application/jsonl']
    const stream = await call('GET /trpc/root,nothing?batch=1', { headers })
    expect(stream.status).toBe(200)
    expect(stream.text).toContain(service.world.ids.club)
    expect(stream.text).toContain('NOT_FOUND')
    await expectRefused('GET /trpc/root', { headers }, 400, expect.stringContaining('batched'))
    await expectRefused('GET /trpc/%zz?batch=1', { headers }, 400, expect.stringContaining('%zz'))
  })
})

describe('a connection', () => {
  it('gets 400 in the common shape for invalid HTTP', async () => {
    for (const bytes of [
      'garbage\r\n\r\n',
      'POST /trpc/storage.put HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ]) {
      const connection = await Connection.open(service.world.internalPort)
      await connection.send(bytes)
      const answer = await connection.answer()
      const request_id = answer.headers['x-request-id']
      expectBody(answer, 400, {
        error: { code: 'invalid_request', message: 'The request is not valid HTTP.', request_id },
      })
      connection.end()
      await connection.ended
    }
  })
})

describe('the input of a query', () => {
  const line = (input: string) => `GET /trpc/storage.get?${input}`
  const expectInput = (input: string, status: number, message: unknown) =>
    expectRefused(line(input), {}, status, message, 'storage.get')
  const names = "Names use 1 to 64 letters, digits, '_' or '-'."

  it.each([
    ['', 'undefined'],
    ['input=null', 'null'],
    ['input=[]', 'array'],
    ['input=1', 'number'],
    ['input="x"', 'string'],
  ])('returns 422 for %j', (input, type) =>
    expectInput(input, 422, `The input: Invalid input: expected object, received ${type}.`),
  )

  it.each(
    titled([
      ['input={"collection":"c"}', names],
      ['input={"collection":"c","key":1}', names],
      ['input={"collection":"c","key":"\\u0000"}', names],
      ['input={"collection":["c"],"key":"k"}', names],
      ['input={"collection":"c","key":"k","scope":["org"]}', 'scope is org or user.'],
    ]),
  )('returns 422 for %s', (_, input, message) => expectInput(input, 422, message))

  it('may have 258 levels; deeper is 400', async () => {
    await expectInput(`input=${nested(259)}`, 400, 'value is nested too deeply.')
    await expectInput(`input=${nested(5_000)}`, 400, 'value is nested too deeply.')
    await expectInput(`input=${nested(258)}`, 422, 'The input: Invalid input: expected object, received array.')
  })

  it.each(['limit', 'offset'])('returns 422 unless %s is a number', async (key) => {
    const message = { limit: 'limit is 1 to 200.', offset: 'offset is 0 or more.' }[key]
    for (const value of ['"5"', 'null', '[]', '[5]', 'true', '1.5', '-1', '1e400', '9007199254740993', '{}', '""']) {
      const target = `/trpc/storage.list?input={"collection":"c","${key}":${value}}`
      await expectRefused(`GET ${target}`, {}, 422, message, 'storage.list')
    }
  })
})

describe('the input of a mutation', () => {
  const expectInput = (body: string | Buffer, status: number, message: unknown, sent: Sent = {}) =>
    expectRefused('POST /trpc/storage.put', { body, ...sent }, status, message, 'storage.put')

  it.each(['', '[]', 'null', '1', '"x"', 'true'])('returns 400 for %j', (body) =>
    expectInput(body, 400, expect.stringMatching(/^The input: Invalid input: expected object/)),
  )

  it.each(
    titled([
      ['{}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      ['{"json":{"collection":"c","key":"k","value":1}}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      ['{"collection":"\\u0000","key":"k","value":1}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      ['{"__proto__":{"collection":"c","key":"k","value":1}}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      [put('1', ',"scope":"x"'), 422, 'scope is org or user.'],
      ['{"collection":"c","key":"k"}', 400, 'value is missing.'],
      ['{"collection":"c","key":"k","Value":1}', 400, 'value is missing.'],
      [put(nested(257)), 400, 'value is nested too deeply.'],
      [put(nestedObjects(257)), 400, 'value is nested too deeply.'],
      [put(nested(100_000)), 400, 'value is nested too deeply.'],
      [nested(100_000), 400, 'value is nested too deeply.'],
      [put('1', ',"ifMatch":1'), 400, 'ifMatch: Invalid input: expected string, received number.'],
      [put('1', ',"ifMatch":"\\u0000"'), 412, 'This entry has changed.'],
      [put('1', ',"ifMatch":"\\"\\u0000\\""'), 412, 'This entry has changed.'],
      [put('1', ',"ifMatch":"\\"\\ud800\\""'), 412, 'This entry has changed.'],
      [put('1', `,"ifMatch":"${'\\"x\\",'.repeat(20_000)}"`), 412, 'This entry has changed.'],
    ] as const),
  )('is refused: %s', (_, body, status, message) => expectInput(body, status, message))
})

const KIB = 1024
const MIB = 1024 * KIB
const QUOTA = 10 * MIB
/** A value of so many bytes. */
const makeText = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`
const putLarge = (key: string, value: string) => `{"collection":"large","key":"${key}","value":${value}}`
const overQuota = { status: 413, message: 'App storage quota exceeded.' }
const over1MiB = { status: 413, message: 'The body is larger than 1 MiB.' }
const overBatch = { status: 413, message: 'The batch is too large. Send large values in separate requests.' }

const world = useWorld({ storageQuotaBytes: QUOTA })
beforeAll(async () => {
  await world.db.client.update({ where: { id: world.ids.client }, data: { environment: 'sandbox' } })
})

interface Item {
  result?: unknown
  error?: { message: string; data: { httpStatus: number } }
}

async function post(path: string, body: string, claims: Record<string, unknown> = {}) {
  const authorization = `Bearer ${await world.token(claims)}`
  const { body: items } = await world.internal('POST', `/trpc/${path}`, { headers: { authorization }, body })
  const outcomes = ([items].flat() as Item[]).map(({ error }) =>
    error ? { status: error.data.httpStatus, message: error.message } : { status: 200 },
  )
  await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  return outcomes
}

const sizes = async () => {
  const { app, club } = world.ids
  const rows = await world.db.$queryRaw<{ key: string; bytes: number }[]>`
    SELECT key, octet_length(value) AS bytes FROM "StorageEntry"
    WHERE "appId" = ${app} AND "clubId" = ${club} ORDER BY key`
  return Object.fromEntries(rows.map(({ key, bytes }) => [key, bytes]))
}
const erase = () => world.db.storageEntry.deleteMany({ where: { appId: world.ids.app } })

describe('storage.put over tRPC', () => {
  it('takes a value that fills the quota, alone and in a batch of one', async () => {
    await erase()
    expect(await post('storage.put', putLarge('k', makeText(QUOTA)))).toEqual([{ status: 200 }])
    expect(await sizes()).toEqual({ k: QUOTA })
    expect(await post('storage.put?batch=1', `{"0":${putLarge('k', makeText(QUOTA - 1))}}`)).toEqual([{ status: 200 }])
    expect(await sizes()).toEqual({ k: QUOTA - 1 })
  })

  it('returns 413 for a value or a body beyond the quota, and stores nothing', async () => {
    await erase()
    for (const bytes of [QUOTA + 1, QUOTA + 64 * KIB, QUOTA + 2 * MIB]) {
      expect(await post('storage.put', putLarge('k', makeText(bytes)))).toEqual([overQuota])
      expect(await post('storage.put?batch=1', `{"0":${putLarge('k', makeText(bytes))}}`)).toEqual([overQuota])
    }
    expect(await sizes()).toEqual({})
  })

  it('stores the values of a batch byte for byte', async () => {
    await erase()
    const texts = ['{ "a": 1e400, "a": -0 }', '"\\u0000\\ud800"', '[12345678901234567890]', makeText(3 * MIB), 'null']
    // The later key of two counts, as in JSON.parse.
    const inputs = texts.map((text, i) => `"${i}":{"value":0,"collection":"c","key":"k${i}","val\\u0075e": ${text} }`)
    const paths = texts.map(() => 'storage.put').join(',')
    const outcomes = await post(`${paths}?batch=1`, `{ "0" : [1], ${inputs.reverse().join(' , ')} }`)
    expect(outcomes).toEqual(texts.map(() => ({ status: 200 })))
    for (const [i, text] of texts.entries()) {
      const { text: entry } = await world.call('GET', `/storage/c/k${i}`)
      expect(entry.startsWith(`{"key":"k${i}","value":${text},"updatedAt":`)).toBe(true)
    }
  })

  it('shares 16 MiB among the calls of a batch', async () => {
    await erase()
    const both = (bytes: number) => `{"0":${putLarge('a', makeText(bytes))},"1":${putLarge('b', makeText(bytes))}}`
    const paths = 'storage.put,storage.put?batch=1'
    expect(await post(paths, both(5 * MIB))).toEqual([{ status: 200 }, { status: 200 }])
    expect(await post(paths, both(8 * MIB))).toEqual([overBatch, overBatch])
    expect(await sizes()).toEqual({ a: 5 * MIB, b: 5 * MIB })
  })

  it('returns 413 for more than 1 MiB beside the values', async () => {
    await erase()
    const beside = `{"collection":"large","key":"k","more":${makeText(MIB)},"value":1}`
    expect(await post('storage.put', beside)).toEqual([over1MiB])
    expect(await post('storage.put?batch=1', `{"0":${beside}}`)).toEqual([over1MiB])
    expect(await post('storage.put?batch=1', `{"0":${putLarge('k', '1')},"x":${makeText(MIB)}}`)).toEqual([over1MiB])
    expect(await sizes()).toEqual({})
  })

  it('reads no body of a caller whom it refuses', async () => {
    const body = putLarge('k', makeText(QUOTA + 2 * MIB))
    const message = 'This token does not carry the svc.apps.storage:write scope.'
    expect(await post('storage.put', body, { scope: '' })).toEqual([{ status: 403, message }])
    expect(await post('storage.put?batch=1', `{"0":${body}}`, { scope: '' })).toEqual([{ status: 403, message }])
  })
})

describe('another mutation over tRPC', () => {
  const event = (bytes: number) => `{"app":"${world.ids.app}","type":"t","data":${makeText(bytes)}}`

  it('takes a body of up to 1 MiB and returns 413 beyond', async () => {
    const claims = platformClaims(world)
    const tooLarge = { status: 400, message: 'The event is larger than 256 KiB.' }
    expect(await post('events.publish', event(MIB - 200), claims)).toEqual([tooLarge])
    expect(await post('events.publish', event(MIB), claims)).toEqual([over1MiB])
    const batch = `{"0":${event(MIB / 2)},"1":${event(MIB / 2)}}`
    expect(await post('events.publish,events.publish?batch=1', batch, claims)).toEqual([over1MiB, over1MiB])
  })
})

describe('a batch', () => {
  it('of 50 calls is answered, each counted; 51 are refused', async () => {
    const { db, ids } = world
    await db.client.update({ where: { id: ids.client }, data: { environment: 'production' } })
    const headers = { authorization: `Bearer ${await world.token()}` }
    const client = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `http://127.0.0.1:${world.internalPort}/trpc`, headers })],
    })
    world.advance(5)
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.root.query()))
    expect(answers).toEqual(Array(50).fill({ api: 'apps', organisation: ids.club }))
    const { headers: counted } = await world.internal('GET', '/trpc/root', { headers })
    expect(counted.ratelimit).toContain(`r=${10_000 - 51};`)
    const tooMany = await world.internal('GET', `/trpc/${Array(51).fill('root').join(',')}?batch=1`, { headers })
    expect(tooMany).toMatchObject({ status: 400, body: { error: { message: 'Batch call exceeds maximum size' } } })
  })
})
