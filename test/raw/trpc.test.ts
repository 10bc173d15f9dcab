import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
