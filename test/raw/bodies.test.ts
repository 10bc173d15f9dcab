import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import { readBytes } from '../../server/http/body-bytes.ts'
import { listen } from '../../server/http/listen.ts'
import type { Rate } from '../../server/http/transfer-rate.ts'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import type { Refusal, Sent } from './raw-service.ts'
import {
  bodyNotJson,
  detail,
  error,
  expectError,
  nested,
  nestedObjects,
  notHttp,
  notThisToken,
  startRawService,
  titled,
} from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)
beforeAll(async () => {
  expect(await put('{"value":"stored"}')).toMatchObject({ status: 200 })
})

const target = '/v1/storage/col/k1'
const put = (body: string | Buffer, sent: Sent = {}) =>
  service.answerTo(service.request(`PUT ${target}`, { body, ...sent }))

const missing = detail('value is missing.')
const notAlone = detail('The body has exactly one field, value.')
const notJson = detail(bodyNotJson)
const tooDeep = detail('value is nested too deeply.')

/** Accepted bodies, each with the value as it is returned; test/storage/fidelity.test.ts has every kind of value. */
const stored: [body: string, value: string][] = [
  ['{"value":null}', 'null'],
  [' \t\r\n{ "value" \n:\t 1 } \r\n', '1'],
  ['{"value": { "b" : 1 , "a" : [ 1, 2 ] } }', '{ "b" : 1 , "a" : [ 1, 2 ] }'],
  ['{"\\u0076alue":"escaped key"}', '"escaped key"'],
  ['{"\\u0076\\u0061\\u006c\\u0075\\u0065":1}', '1'],
  ['{"value":"\\u0000\\ud800"}', '"\\u0000\\ud800"'],
  ['\ufeff{"value":"after a byte order mark"}', '"after a byte order mark"'],
  ['{"value":{"value":{"value":1}}}', '{"value":{"value":1}}'],
  [`{"value":${nested(256)}}`, nested(256)],
  [`{"value":${nestedObjects(256)}}`, nestedObjects(256)],
]

const refused: [body: string | Buffer, refusal: Refusal][] = [
  // Without a value.
  ['["value"]', missing],
  ['[{"value":1}]', missing],
  ['{"value ":1}', missing],
  ['{"valu\\u0065x":1}', missing],
  ['{"__proto__":{"value":1}}', missing],
  ['{"a":1,"b":2}', missing],
  [`{"${'k'.repeat(100_000)}":1}`, missing],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, missing],
  // With another field.
  ['{"value":1,"foo":null}', notAlone],
  ['{"value":1,"\\u0076alue":2}', notAlone],
  ['{"value":1,"__proto__":{}}', notAlone],
  ['{"__proto__":{},"value":1}', notAlone],
  [`{"value":1,"${'k'.repeat(100_000)}":1}`, notAlone],
  // Not JSON; test/unit/raw-json-scanner.test.ts has every way.
  [' ', notJson],
  ['\ufeff', notJson],
  ['\ufeff\ufeff{"value":1}', notJson],
  ['{"value":"\0"}', notJson],
  ['{"value":1}\0', notJson],
  // Not UTF-8.
  [Buffer.from('{"value":"\xff"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xc0\xaf"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xed\xa0\x80"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xf4\x90\x80\x80"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xc3"}', 'latin1'), notJson],
  [Buffer.from('{"value":1}\xff', 'latin1'), notJson],
  [Buffer.from('\ufeff{"value":1}', 'utf16le'), notJson],
  [gzipSync('{"value":1}'), notJson],
  // Too deep.
  [`{"value":${nested(257)}}`, tooDeep],
  [`{"value":${nestedObjects(257)}}`, tooDeep],
  [`{"value":[1,2,${nested(256)},3]}`, tooDeep],
  [`{"value":${nested(100_000)}}`, tooDeep],
  [`{"value":${nestedObjects(100_000)}}`, tooDeep],
  [`{"value":${'['.repeat(100_000)}}`, notJson],
]

describe('PUT', () => {
  it.each(titled(stored))('stores %s and returns it byte for byte', async (_, body, value) => {
    const answer = await put(body)
    expect(answer.status).toBe(200)
    const [, time] = /,"updatedAt":(\d+)}$/.exec(answer.text)!
    const entry = `{"key":"k1","value":${value},"updatedAt":${time}}`
    expect(answer.text).toBe(entry)
    expect((await service.answerTo(service.request(`GET ${target}`))).text).toBe(entry)
    const list = await service.answerTo(service.request('GET /v1/storage/col'))
    expect(list.text).toBe(`{"items":[${entry}],"total":1}`)
  })

  it.each(titled(refused))('refuses %s', async (_, body, refusal) => {
    await service.expectRefused(service.request(`PUT ${target}`, { body }), 400, refusal)
  })

  it('accepts a chunked body', async () => {
    const chunks = ['{"val', 'ue":', '"in chunks"', '}'].map((text) => `${text.length.toString(16)};x=y\r\n${text}\r\n`)
    const headers = ['Transfer-Encoding: chunked']
    const head = service.request(`PUT ${target}`, { headers, body: '' })
    const answer = await service.answerTo(
      Buffer.concat([head, Buffer.from(`${chunks.join('')}0\r\nX-Trailer: 1\r\n\r\n`)]),
    )
    expect(answer.text).toContain('"in chunks"')
  })

  it('stores a body that comes in chunks of a byte', async () => {
    const value = `"${Array.from({ length: 5_000 }, (_, at) => `${at},`).join('')}é"`
    const bytes = [...Buffer.from(`{"value":${value}}`)].map((byte) => Buffer.from([byte]))
    const chunks = bytes.flatMap((byte) => [Buffer.from('1\r\n'), byte, Buffer.from('\r\n')])
    const head = service.request(`PUT ${target}`, { headers: ['Transfer-Encoding: chunked'], body: '' })
    const answer = await service.answerTo(Buffer.concat([head, ...chunks, Buffer.from('0\r\n\r\n')]))
    expect(answer.status).toBe(200)
    expect((await service.answerTo(service.request(`GET ${target}`))).text).toContain(`"value":${value},"updatedAt"`)
  })

  it('refuses an invalid chunked body like any other', async () => {
    const head = service.request(`PUT ${target}`, { headers: ['Transfer-Encoding: chunked'], body: '' })
    await service.expectRefused(Buffer.concat([head, Buffer.from('3\r\n{"v\r\n0\r\n\r\n')]), 400, notJson)
    await service.expectRefused(Buffer.concat([head, Buffer.from('0\r\n\r\n')]), 400, missing)
  })

  it('refuses a request without a body', async () => {
    const sent = service.request(`PUT ${target}`, { headers: ['Content-Type: application/json'] })
    await service.expectRefused(sent, 400, missing)
    await service.expectRefused(service.request(`PUT ${target}`), 415, detail('Send the body as application/json.'))
  })
})

describe('GET and DELETE', () => {
  it('ignore a body', async () => {
    for (const body of ['{"scope":"user"}', 'no JSON', '\xff']) {
      const get = await service.answerTo(service.request(`GET ${target}`, { body }))
      expect(get.status).toBe(200)
      await put('{"value":1}', {})
      const del = await service.answerTo(service.request(`DELETE ${target}`, { body, type: 'text/plain' }))
      expect(del).toMatchObject({ status: 204, text: '' })
      await put('{"value":"stored"}')
    }
  })
})

describe('a body for lms or notify', () => {
  const notObject = error('invalid_request', 'The body is not a JSON object.')
  const answersInvalid = error('invalid_request', 'answers must be an object that maps question ids to answers.')
  const urlInvalid = error(
    'invalid_request',
    'url must be an https:// address of at most 2048 characters, without user info.',
  )
  const broken = error('invalid_request', bodyNotJson)
  const deep = error('invalid_request', 'The body is nested too deeply.')
  const quiz = () => `POST /v1/quizzes/${encodeURIComponent(service.quizId)}/results`
  const webhook = () => `PUT /v1/apps/${service.world.ids.app}/webhook`

  it.each(
    titled([
      ['', broken, broken],
      [' ', broken, broken],
      ['{', broken, broken],
      ['{"answers":"\t"}', broken, broken],
      ['[]', notObject, notObject],
      ['null', notObject, notObject],
      ['"answers"', notObject, notObject],
      ['{}', answersInvalid, urlInvalid],
      ['{"__proto__":{"answers":{},"url":"https://a.b"}}', answersInvalid, urlInvalid],
      [`{"a":${nested(64)}}`, deep, deep],
      [`{"a":${nested(100_000)}}`, deep, deep],
      [`{"a":${nested(63)}}`, answersInvalid, urlInvalid],
    ]),
  )('returns 400 for %s', async (_, body, toQuiz, toWebhook) => {
    await service.expectRefused(service.request(quiz(), { api: 'lms', body }), 400, toQuiz)
    await service.expectRefused(service.request(webhook(), { api: 'notify', body }), 400, toWebhook)
  })

  it('returns 400 when it is not UTF-8', async () => {
    const body = Buffer.from('{"answers":{"q1":"\xff"},"url":"https://a.b/\xff"}', 'latin1')
    await service.expectRefused(service.request(quiz(), { api: 'lms', body }), 400, broken)
    await service.expectRefused(service.request(webhook(), { api: 'notify', body }), 400, broken)
  })
})

/** A request with these bytes of its body, and its client's connection. */
async function requestWith(framing: string, sent: string) {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connection = await Connection.open((server.address() as AddressInfo).port)
  const requested = once(server, 'request')
  await connection.send(`PUT / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n${sent}`)
  const [request] = (await requested) as [IncomingMessage]
  return { request, connection }
}

const thrownFor = (request: IncomingMessage, minRate?: Rate) =>
  readBytes(request, 1_000_000, errors.bodyTooLarge, async () => {}, minRate).catch((error) => error)

const endedEarly = { status: 400, publicCode: 'invalid_request', message: 'The body ended early.' }

it.each([
  ['a small body', 'Content-Length: 100', '{"value":', 'end'],
  ['a small body', 'Content-Length: 100', '{"value":', 'reset'],
  ['a large body', 'Content-Length: 100000', '{"value":', 'end'],
  ['a large body', 'Content-Length: 100000', '{"value":', 'reset'],
  ['a chunked body', 'Transfer-Encoding: chunked', '4\r\n{"va\r\n', 'end'],
  ['no byte of a body', 'Content-Length: 100', '', 'reset'],
] as const)('%s that its client ends early is 400 with these words: %s %j %s', async (_, framing, sent, how) => {
  const { request, connection } = await requestWith(framing, sent)
  const thrown = thrownFor(request)
  connection[how]()
  expect(await thrown).toMatchObject(endedEarly)
})

it.each([
  ['a small body', 'Content-Length: 100'],
  ['a large body', 'Content-Length: 100000'],
  ['a chunked body', 'Transfer-Encoding: chunked'],
])('%s whose client has left before it is read is 400: %s', async (_, framing) => {
  const { request, connection } = await requestWith(framing, '')
  const closed = new Promise((resolve) => request.once('close', resolve))
  connection.reset()
  await closed
  expect(await thrownFor(request)).toMatchObject(endedEarly)
})

it.each([
  ['a small body', 'Content-Length: 100', '{"value":'],
  ['no byte of a small body', 'Content-Length: 100', ''],
  ['a large body', 'Content-Length: 100000', '{"value":'],
  ['a chunked body', 'Transfer-Encoding: chunked', '4\r\n{"va\r\n'],
  ['a large chunked body', 'Transfer-Encoding: chunked', `8000\r\n${'x'.repeat(0x8000)}\r\n`],
])('%s that does not come on is 408: %s', async (_, framing, sent) => {
  const { request, connection } = await requestWith(framing, sent)
  const thrown = thrownFor(request, { bytesPerSecond: 1_000_000, graceMs: 0 })
  expect(await thrown).toMatchObject({ status: 408, id: 'bodyTooSlow' })
  connection.reset()
})

it('a body has no time limit but its rate: Node limits the head of a request alone', async () => {
  const app = {
    callback: () => async (request: IncomingMessage, response: ServerResponse) => {
      const { server } = request.socket as Socket & { server: Server }
      const bytes = await readBytes(request, 1_000_000, errors.bodyTooLarge, async () => {})
      response.end(`${bytes} within ${server.requestTimeout} ms`)
    },
  }
  const { port, close } = await listen(app, 0, { headMs: 100 })
  onTestFinished(() => close(0))
  const connection = await Connection.open(port)
  await connection.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab')
  // The head of another, begun later, is over its time.
  const other = await Connection.open(port)
  await other.send('PUT / HT')
  expect((await other.answer()).status).toBe(408)
  await connection.send('cd')
  // 0: Node sets none.
  expect((await connection.answer()).text).toBe('abcd within 0 ms')
})

const MB = 1024 * 1024
const QUOTA = 10 * MB
const full = detail('App storage quota exceeded.')
const tooLarge = error('invalid_request', 'The body is larger than 1 MiB.')

/** A JSON string of `size` bytes. */
const makeText = (size: number) => `"${'x'.repeat(size - 2)}"`

type Framing = 'Content-Length' | 'chunked'
const framings: Framing[] = ['Content-Length', 'chunked']

/** Request head and body as sent. */
function framed(line: string, body: string, framing: Framing, sent: Sent = {}) {
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(body)}`
  const head = service.request(line, {
    ...sent,
    headers: ['Content-Type: application/json', length, ...(sent.headers ?? [])],
  })
  if (framing === 'Content-Length') return { head, rest: Buffer.from(body) }
  const chunks = body.match(/.{1,65536}/gs) ?? []
  return {
    head,
    rest: Buffer.from(`${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`),
  }
}

/** Sends the whole body before it reads the answer, as most clients do. */
async function upload({ head, rest }: { head: Buffer; rest: Buffer }) {
  const connection = await Connection.open(service.world.publicPort)
  await connection.send(head)
  for (let at = 0; at < rest.length; at += 65_536) await connection.send(rest.subarray(at, at + 65_536))
  const answer = await connection.answer()
  await service.expectServing(connection, answer)
  return answer
}

describe.each(framings)('a body over the limit, sent with %s', (framing) => {
  const expectRefused = async (line: string, body: string, sent: Sent, status: number, refusal: Refusal) => {
    const before = await service.state()
    expectError(await upload(framed(line, body, framing, sent)), status, refusal)
    expect(await service.state()).toEqual(before)
  }

  it.each([QUOTA + 64 * 1024 + 1, 12 * MB, ...(times(1, 0) ? [30 * MB] : [])])(
    'gets 413 from storage: %i bytes',
    async (size) => {
      const body = `{"value":${makeText(size - 10)}}`
      await expectRefused(`PUT ${target}`, body, {}, 413, full)
    },
  )

  it.each([MB + 1, 5 * MB])('gets 400 from lms and notify: %i bytes', async (size) => {
    const body = `{"answers":{},"url":"https://a.b","x":${makeText(size - 39)}}`
    expect(body.length).toBe(size)
    const quiz = `POST /v1/quizzes/${encodeURIComponent(service.quizId)}/results`
    await expectRefused(quiz, body, { api: 'lms' }, 400, tooLarge)
    await expectRefused(`PUT /v1/apps/${service.world.ids.app}/webhook`, body, { api: 'notify' }, 400, tooLarge)
  })

  it('is one byte larger than an accepted one', async () => {
    const body = `{"url":"https://a.b","x":${makeText(MB - 26)}}`
    expect(body.length).toBe(MB)
    const webhook = `PUT /v1/apps/${service.world.ids.app}/webhook`
    expect((await upload(framed(webhook, body, framing, { api: 'notify' }))).status).toBe(200)
  })
})

describe('an unread body', () => {
  const body = `{"value":${makeText(times(5, 2) * MB)}}`
  const refusals = async (): Promise<[line: string, sent: Sent, status: number, refusal: Refusal][]> => {
    const { token, ids } = service.world
    const write = 'svc.apps.storage:write'
    return [
      [`PUT ${target}`, { token: 'x' }, 401, notThisToken],
      [`PUT ${target}`, { host: 'lms.test' }, 404, detail('This API answers at apps.test.')],
      [`POST ${target}`, {}, 405, detail('Use GET, HEAD, PUT, DELETE here.')],
      [
        `PUT ${target}`,
        { token: await token({ scope: '' }) },
        403,
        detail(`This token does not carry the ${write} scope.`),
      ],
      [`PUT ${target}`, { headers: ['Content-Encoding: gzip'] }, 415, detail('Send the body as application/json.')],
      [`GET ${target}-absent`, {}, 404, detail('This key does not exist.')],
      [
        'PUT /v1/apps/%00/webhook',
        { api: 'notify', token: await token({ organisation: ids.provider, scope: '' }) },
        403,
        error('missing_scope', 'This token does not carry the ntf.apps.webhook:update scope.'),
      ],
    ]
  }

  it.each(framings)('is drained, so that the client receives the refusal: %s', async (framing) => {
    for (const [line, sent, status, refusal] of await refusals()) {
      expectError(await upload(framed(line, body, framing, sent)), status, refusal)
    }
  })

  it.each(framings)('is drained with Connection: close: %s', async (framing) => {
    for (const [line, sent, status, refusal] of await refusals()) {
      const headers = [...(sent.headers ?? []), 'Connection: close']
      const answer = await upload(framed(line, body, framing, { ...sent, headers }))
      expectError(answer, status, refusal)
      expect(answer.headers.connection).toBe('close')
    }
  })

  it('is answered before it is complete', async () => {
    for (const [line, sent, status, refusal] of await refusals()) {
      const { head, rest } = framed(line, body, 'Content-Length', sent)
      const connection = await Connection.open(service.world.publicPort)
      await connection.send(head)
      await connection.send(rest.subarray(0, 100_000))
      const answer = await connection.answer()
      expectError(answer, status, refusal)
      await connection.send(rest.subarray(100_000))
      await service.expectServing(connection, answer)
    }
  })
})

describe('a client that keeps sending after a refusal', () => {
  it.each<[name: string, sent: Sent, status: number, refusal: Refusal]>([
    ['of its token', { token: 'x' }, 401, notThisToken],
    ['of its expectation', { headers: ['Expect: more'] }, 417, notHttp],
  ])('%s is disconnected when it sends without end', async (_, sent, status, refusal) => {
    const connection = await Connection.open(service.world.publicPort)
    const headers = ['Transfer-Encoding: chunked', ...(sent.headers ?? [])]
    await connection.send(service.request(`PUT ${target}`, { ...sent, headers }))
    expectError(await connection.answer(), status, refusal)
    const taken = await connection.sendUntilCut(Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`))
    // Above the 32 MB that are drained: socket buffers.
    expect(taken).toBeGreaterThan(31 * MB)
    expect(taken).toBeLessThan(64 * MB)
  })
})

describe('a client that disconnects inside its body', () => {
  const leave = async (how: 'end' | 'reset', sent: Sent, part: number) => {
    const body = `{"value":${makeText(MB)}}`
    const { head, rest } = framed(`PUT ${target}`, body, 'Content-Length', sent)
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(head)
    if (part > 0) await connection.send(rest.subarray(0, part))
    connection[how]()
    await connection.ended
  }

  it.each(['end', 'reset'] as const)('leaves nothing behind: %s', async (how) => {
    const before = await service.state()
    const logged = service.log.length
    const parts = [0, 1, 1000, 500_000]
    for (const part of parts) {
      await leave(how, { headers: [`X-Request-Id: left.${how}.${part}`] }, part)
    }
    await expect
      .poll(() => service.log.slice(logged).filter((line) => line.includes(`left.${how}`)).length)
      .toBe(parts.length)
    expect(await service.state()).toEqual(before)
    expect((await service.answerTo(service.request('GET /v1/'))).status).toBe(200)
  })

  it('is not waited for when it disconnects during the access check', async () => {
    const logged = service.log.length
    const { world } = service
    for (let i = 0; i < 20; i++) {
      world.advance(5)
      await leave('reset', { headers: [`X-Request-Id: looked-up.${i}`] }, i * 1000)
    }
    await expect.poll(() => service.log.slice(logged).filter((line) => line.includes('looked-up')).length).toBe(20)
  })
})
