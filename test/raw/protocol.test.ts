import { beforeAll, describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import { detail, error, expectError, lines, notHttp, nothingHere, startRawService } from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)
let token: string
beforeAll(async () => {
  token = service.tokens.apps
})

const CRLF = '\r\n'
const value = '{"value":1}'
const put = (fields: string[], body: string) =>
  lines(
    'PUT /v1/storage/col/k1 HTTP/1.1',
    'Host: apps.test',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...fields,
  ) + body
const get = (...fields: string[]) =>
  lines('GET /v1/ HTTP/1.1', 'Host: apps.test', `Authorization: Bearer ${token}`, ...fields)
const chunked = 'Transfer-Encoding: chunked'
const chunks = `b${CRLF}${value}${CRLF}0${CRLF}${CRLF}`
const smuggled = 'GET /v1/me/profile HTTP/1.1'

/** Bytes that are not HTTP, or that two servers could parse differently. */
const broken: [name: string, bytes: () => string][] = [
  ['Content-Length with Transfer-Encoding', () => put(['Content-Length: 11', chunked], chunks)],
  ['Transfer-Encoding with Content-Length', () => put([chunked, 'Content-Length: 4'], chunks)],
  ['two different lengths', () => put(['Content-Length: 11', 'Content-Length: 5'], value)],
  ['two equal lengths', () => put(['Content-Length: 11', 'Content-Length: 11'], value)],
  ['a list of lengths', () => put(['Content-Length: 11, 11'], value)],
  ['a signed length', () => put(['Content-Length: +11'], value)],
  ['a negative length', () => put(['Content-Length: -1'], value)],
  ['a hexadecimal length', () => put(['Content-Length: 0xb'], value)],
  ['a length with a space', () => put(['Content-Length: 1 1'], value)],
  ['an empty length', () => put(['Content-Length:'], value)],
  ['a length beyond 64 bits', () => put(['Content-Length: 18446744073709551627'], value)],
  ['an unknown transfer coding', () => put(['Transfer-Encoding: xchunked'], chunks)],
  ['chunked before another coding', () => put(['Transfer-Encoding: chunked, identity'], chunks)],
  ['Transfer-Encoding: identity', () => put(['Transfer-Encoding: identity'], chunks)],
  ['a vertical tab before chunked', () => put(['Transfer-Encoding: \x0bchunked'], chunks)],
  ['a space before the colon', () => put(['Transfer-Encoding : chunked'], chunks)],
  ['a space before the name', () => put([` ${chunked}`], chunks)],
  ['a chunk size that is not a number', () => put([chunked], `zz${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['a negative chunk size', () => put([chunked], `-b${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['a chunk size with 0x', () => put([chunked], `0xb${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['a chunk size beyond 64 bits', () => put([chunked], `FFFFFFFFFFFFFFFFF${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['an empty chunk size', () => put([chunked], `${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['a chunk longer than its size', () => put([chunked], `5${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['chunks with bare line feeds', () => put([chunked], `b\n${value}\n0\n\n`)],
  ['a malformed trailer', () => put([chunked], `b${CRLF}${value}${CRLF}0${CRLF}x y${CRLF}${CRLF}`)],
  ['a folded header', () => get('X-Folded: a', ' b')],
  ['a header folded with a tab', () => get('X-Folded: a', '\tb')],
  ['bare line feeds', () => `GET /v1/ HTTP/1.1\nHost: apps.test\nAuthorization: Bearer ${token}\n\n`],
  ['a bare line feed in a header', () => get('X-A: a\nX-B: b')],
  ['a bare carriage return in a header', () => get('X-A: a\rX-B: b')],
  ['a bare carriage return in the first line', () => `GET /v1/ HTTP/1.1\r${smuggled}${CRLF}${CRLF}`],
  ['a NUL in a header', () => get('X-A: a\0b')],
  ['a NUL in a header name', () => get('X-\0A: b')],
  ['a NUL in the target', () => lines('GET /v1/\0 HTTP/1.1', 'Host: apps.test')],
  ['a control character in a header', () => get('X-A: a\x01b')],
  ['a header without a colon', () => get('X-A')],
  ['a header without a name', () => get(': x')],
  ['a header name with a space', () => get('X A: x')],
  ['a header name that is not ASCII', () => get('X-\xe4: x')],
  ['a space in the target', () => lines('GET /v1/ x HTTP/1.1', 'Host: apps.test')],
  ['non-ASCII bytes in the target', () => lines('GET /v1/me/pr\xf6file HTTP/1.1', 'Host: apps.test')],
  ['a tab in the target', () => lines('GET /v1/\tx HTTP/1.1', 'Host: apps.test')],
  ['a target without a leading slash', () => lines('GET v1/ HTTP/1.1', 'Host: apps.test')],
  ['an empty target', () => lines('GET  HTTP/1.1', 'Host: apps.test')],
  ['HTTP/1.2', () => lines('GET /v1/ HTTP/1.2', 'Host: apps.test')],
  ['HTTP/3.0', () => lines('GET /v1/ HTTP/3.0', 'Host: apps.test')],
  ['http/1.1', () => lines('GET /v1/ http/1.1', 'Host: apps.test')],
  ['another protocol', () => lines('GET /v1/ ICY/1.1', 'Host: apps.test')],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS handshake', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an SSH greeting', () => 'SSH-2.0-OpenSSH_9.0\r\n'],
  ['a startup message of PostgreSQL', () => '\x00\x00\x00\x08\x04\xd2\x16\x2f'],
  ['JSON', () => '{"value":1}\r\n\r\n'],
  ['a response', () => 'HTTP/1.1 200 OK\r\n\r\n'],
  ['NULs', () => '\0'.repeat(100)],
]

describe('invalid HTTP', () => {
  it.each(broken)('gets 400, closes the connection and changes nothing: %s', async (_, bytes) => {
    const before = await service.state()
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(bytes())
    expectError(await connection.answer(), 400, notHttp)
    connection.end()
    expect({ ended: await connection.ended, rest: connection.rest }).toEqual({ ended: 'end', rest: '' })
    expect(await service.state()).toEqual(before)
    expect((await service.answerTo(get())).status).toBe(200)
  })

  it('gets 400 after the answer to a valid request', async () => {
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(`${get()}garbage\0\r\n\r\n`)
    const answers = [await connection.answer(), await connection.answer()]
    expect(answers.map(({ status }) => status)).toEqual([200, 400])
    connection.end()
    await connection.ended
    expect(connection.rest).toBe('')
  })

  it('closes the connection of a client that keeps sending', async () => {
    const connection = await Connection.open(service.world.publicPort)
    await connection.send('garbage\0\r\n\r\n')
    expectError(await connection.answer(), 400, notHttp)
    // For 5 s, which without pauses are as many of the processor.
    await connection.sendUntilCut('x'.repeat(1024), times(0, 20))
  })

  it('does not delay shutdown while its client keeps the connection', async () => {
    const other = await startRawService()
    const connection = await Connection.open(other.world.publicPort)
    await connection.send('garbage\0\r\n\r\n')
    expectError(await connection.answer(), 400, notHttp)
    await other.close()
    connection.end()
  })

  it('includes an empty Transfer-Encoding beside Content-Length', async () => {
    const smuggling = put(['Transfer-Encoding:', 'Content-Length: 11'], value)
    // The parser of later Nodes refuses it itself, before the section is known.
    const byParser = (await service.answerTo(smuggling)).text.includes('"code"')
    const answer = await service.expectRefused(smuggling, 400, byParser ? notHttp : detail(notHttp.error.message))
    expect(answer.headers.connection).toBe('close')
  })

  it.each(['', ' HTTP/0.9', ' HTTP/2.0'])(
    'does not bypass the token where Node accepts it: "GET /v1/%s"',
    async (version) => {
      const answer = await service.answerTo(lines(`GET /v1/${version}`, 'Host: apps.test'))
      expectError(answer, 401, error('invalid_token', 'This token is not valid.'))
    },
  )
})

describe('an oversized head', () => {
  it.each([
    ['20 KB in one header', 20_480],
    ['1 MB in one header', 1_048_576],
  ])('returns 431: %s', async (_, size) => {
    const answer = await service.answerTo(get(`X-Large: ${'x'.repeat(size)}`))
    expectError(answer, 431, notHttp)
  })

  it.each([20_480, 1_048_576])('returns 431 for a target of %i bytes', async (size) => {
    expectError(await service.answerTo(lines(`GET /v1/${'x'.repeat(size)} HTTP/1.1`, 'Host: apps.test')), 431, notHttp)
  })

  it('returns 431 for 100,000 headers', async () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `X-${i}: x`).join(CRLF)
    expectError(await service.answerTo(get(many)), 431, notHttp)
  })

  it('begins above 15 KB', async () => {
    expect((await service.answerTo(get(`X-Large: ${'x'.repeat(14_000)}`))).status).toBe(200)
    await service.expectRefused(
      lines(`GET /v1/${'x'.repeat(15_360)} HTTP/1.1`, 'Host: apps.test'),
      404,
      detail(nothingHere),
    )
  })
})

describe('a connection', () => {
  it('answers pipelined requests in order', async () => {
    const requests = [
      get(),
      service.request('GET /v1/nothing').toString('latin1'),
      put(['Content-Length: 11'], value),
      get('X-Request-Id: last'),
    ]
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(requests.join(''))
    const statuses: number[] = []
    for (const _ of requests) statuses.push((await connection.answer()).status)
    expect(statuses).toEqual([200, 404, 200, 200])
    connection.end()
  })

  it('is answered after its client has sent FIN', async () => {
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(get())
    connection.end()
    expect((await connection.answer()).status).toBe(200)
  })

  it('may start with empty lines', async () => {
    expect((await service.answerTo(`${CRLF}${CRLF}${get()}`)).status).toBe(200)
  })

  it('may send one byte at a time', async () => {
    const connection = await Connection.open(service.world.publicPort)
    for (const byte of put(['Content-Length: 11'], value)) await connection.send(byte)
    const answer = await connection.answer()
    expect(answer.status).toBe(200)
    await service.expectServing(connection, answer)
  })

  it('does not read the body of a refused request as the next request', async () => {
    const body = get('X-Request-Id: smuggled')
    for (const line of [
      'GET /v1/nothing',
      'GET /v1/me/profile',
      'POST /v1/me/profile',
      'PUT /v1/storage/%00/x',
      'OPTIONS /v1/me/profile',
    ]) {
      const connection = await Connection.open(service.world.publicPort)
      await connection.send(service.request(line, { body }))
      const answer = await connection.answer()
      expect(answer.headers['x-request-id']).not.toBe('smuggled')
      await service.expectServing(connection, answer)
    }
  })

  it.each(['', 'GET /v1/ HT', 'GET /v1/ HTTP/1.1\r\nHost: apps.test\r\n'])('may end after %j', async (bytes) => {
    for (const leave of ['end', 'reset'] as const) {
      const connection = await Connection.open(service.world.publicPort)
      await connection.send(bytes)
      connection[leave]()
      await connection.ended
    }
    expect((await service.answerTo(get())).status).toBe(200)
  })
})
