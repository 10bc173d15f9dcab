import { createTRPCClient, httpBatchStreamLink } from '@trpc/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AppRouter } from '../../routers/index.ts'
import type { Sent } from './raw-service.ts'
import { nothingHere } from './raw-service.ts'
import { Connection } from './socket.ts'
import { expectBody, put, shape, startTrpcService } from './trpc-service.ts'

let service: Awaited<ReturnType<typeof startTrpcService>>
beforeAll(async () => {
  service = await startTrpcService()
})
afterAll(() => service.close())

const call: typeof service.call = (...given) => service.call(...given)
const expectRefused: typeof service.expectCallRefused = (...given) => service.expectCallRefused(...given)

describe('a path', () => {
  it.each([
    '__proto__',
    'constructor',
    'toString',
    'me.__proto__',
    'storage.constructor',
    'me',
    'me.profile.x',
    'ME.PROFILE',
    'root,root',
    '_def',
    'createCaller',
  ])('%s returns 404', async (path) => {
    await expectRefused(`GET /trpc/${path}`, {}, 404, `No procedure found on path "${path}"`, path)
    await expectRefused(`POST /trpc/${path}`, { body: '{}' }, 404, `No procedure found on path "${path}"`, path)
  })

  it.each([
    ['', ''],
    ['.', ''],
    ['..', ''],
    ['%2e%2e', ''],
    ['../me.profile', '../me.profile'],
    ['../abcd/me.profile', '../abcd/me.profile'],
    ['..\\abcd\\me.profile', '..\\abcd\\me.profile'],
    ['me.profile/', 'me.profile/'],
    ['%00', '\0'],
    ['me.profile%00', 'me.profile\0'],
    ['me.profile%23', 'me.profile#'],
    ['me.profile#', 'me.profile#'],
    ['me/profile', 'me/profile'],
    ['me.profile%2F', 'me.profile/'],
  ])('"%s" returns 404', async (sent, path) => {
    await expectRefused(`GET /trpc/${sent}`, {}, 404, `No procedure found on path "${path}"`, path)
  })

  it.each(['%zz', '%', '%ff', 'me.profile%', '%E0%A4%A'])('%s returns 400', async (path) => {
    await expectRefused(`GET /trpc/${path}`, {}, 400, `Invalid URL-encoding in path "${path}"`)
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
  it('must be GET for a query and POST for a mutation', async () => {
    const { body } = { body: put('1') }
    await expectRefused('POST /trpc/me.profile', { body }, 405, expect.stringContaining('POST'), 'me.profile')
    await expectRefused('GET /trpc/storage.put', {}, 405, expect.stringContaining('GET'), 'storage.put')
  })

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])('%s returns 405', async (method) => {
    const answer = await call(`${method} /trpc/storage.put`, { body: put('1') })
    const request_id = answer.headers['x-request-id']
    expectBody(answer, 405, { error: { code: 'method_not_allowed', message: 'Use GET, POST here.', request_id } })
    expect(answer.headers.allow).toBe('GET, POST')
  })

  it('HEAD returns 405 without a body', async () => {
    expect(await call('HEAD /trpc/me.profile')).toMatchObject({ status: 405, text: '' })
  })
})

describe('a token', () => {
  it.each(['GET /trpc/root', 'GET /trpc/me.profile', 'POST /trpc/storage.put', 'POST /trpc/webhook.put'])(
    'is required: %s',
    async (line) => {
      const path = line.split('/').at(-1)!
      const more = line.startsWith('POST') ? { body: 'no JSON', type: 'text/plain' } : {}
      for (const token of [null, '', 'x', 'a.b.c']) {
        await expectRefused(line, { token, ...more }, 401, 'This token is not valid.', path)
      }
      const twice = {
        token: null,
        headers: [`Authorization: Bearer ${service.tokens.apps}`, 'Authorization: Bearer x'],
      }
      await expectRefused(line, { ...twice, ...more }, 401, 'This token is not valid.', path)
    },
  )

  it('is not required to learn that a procedure does not exist', async () => {
    await expectRefused('GET /trpc/nothing', { token: null }, 404, expect.any(String), 'nothing')
  })

  it('with unusual claims is refused', async () => {
    for (const odd of ['\0', 'x'.repeat(6_000)]) {
      const noMember = 'This member does not exist in this club.'
      await expectRefused(
        'GET /trpc/me.profile',
        { token: await service.world.token({ sub: odd }) },
        404,
        noMember,
        'me.profile',
      )
      const token = await service.world.token({ client_id: odd })
      await expectRefused('GET /trpc/root', { token }, 401, 'This token is not valid.', 'root')
      await expectRefused('GET /trpc/nothing', { token }, 404, expect.any(String), 'nothing')
    }
  })
})

describe('a batch', () => {
  const root = (count: number) => Array.from({ length: count }, () => 'root').join(',')

  it('holds up to 50 calls', async () => {
    const answer = await call(`GET /trpc/${root(50)}?batch=1`)
    expect(JSON.parse(answer.text)).toHaveLength(50)
    for (const count of [51, 1000]) {
      await expectRefused(`GET /trpc/${root(count)}?batch=1`, {}, 400, 'Batch call exceeds maximum size')
      await expectRefused(`POST /trpc/${root(count)}?batch=1`, { body: '{}' }, 400, 'Batch call exceeds maximum size')
    }
  })

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

describe('a stream', () => {
  it('carries values stored over REST, including their line breaks', async () => {
    const body = '{"value": {\n  "text": "a\\nb",\r\n  "list": [1,\n2]\n}}'
    const put = service.request('PUT /v1/storage/c/lines', { body })
    expect((await service.answerTo(put)).status).toBe(200)
    const url = `http://127.0.0.1:${service.world.internalPort}/trpc`
    const headers = { authorization: `Bearer ${service.tokens.apps}` }
    const client = createTRPCClient<AppRouter>({ links: [httpBatchStreamLink({ url, headers })] })
    const key = { collection: 'c', key: 'lines' }
    const [entry, list] = await Promise.all([client.storage.get.query(key), client.storage.list.query(key)])
    expect(entry.value).toEqual({ text: 'a\nb', list: [1, 2] })
    expect(list.items).toContainEqual(entry)
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

  it('is not waited for when its client disconnects inside the body', async () => {
    const logged = service.log.length
    for (const how of ['end', 'reset'] as const) {
      for (let sent = 0; sent < 40; sent += 4) {
        service.world.advance(5)
        const bytes = service.request('POST /trpc/storage.put', {
          host: 'localhost',
          body: put('"left"'),
          headers: ['X-Request-Id: left'],
        })
        const connection = await Connection.open(service.world.internalPort)
        await connection.send(bytes.subarray(0, bytes.length - 1 - sent))
        connection[how]()
        await connection.ended
      }
    }
    await expect.poll(() => service.log.slice(logged).filter((line) => line.includes('left')).length).toBe(20)
    expect((await call('GET /trpc/root')).status).toBe(200)
  })
})
