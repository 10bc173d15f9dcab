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

/** Bytes that are not HTTP, or that two servers could parse differently. */
const broken: [name: string, bytes: () => string][] = [
  ['Content-Length with Transfer-Encoding', () => put(['Content-Length: 11', chunked], chunks)],
  ['Transfer-Encoding with Content-Length', () => put([chunked, 'Content-Length: 4'], chunks)],
  ['two different lengths', () => put(['Content-Length: 11', 'Content-Length: 5'], value)],
  ['a list of lengths', () => put(['Content-Length: 11, 11'], value)],
  ['a hexadecimal length', () => put(['Content-Length: 0xb'], value)],
  ['chunked before another coding', () => put(['Transfer-Encoding: chunked, identity'], chunks)],
  ['a vertical tab before chunked', () => put(['Transfer-Encoding: \x0bchunked'], chunks)],
  ['a space before the colon', () => put(['Transfer-Encoding : chunked'], chunks)],
  ['a chunk size that is not a number', () => put([chunked], `zz${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['a chunk longer than its size', () => put([chunked], `5${CRLF}${value}${CRLF}0${CRLF}${CRLF}`)],
  ['a folded header', () => get('X-Folded: a', ' b')],
  ['a bare line feed in a header', () => get('X-A: a\nX-B: b')],
  ['a NUL in a header', () => get('X-A: a\0b')],
  ['a header without a colon', () => get('X-A')],
  ['a space in the target', () => lines('GET /v1/ x HTTP/1.1', 'Host: apps.test')],
  ['HTTP/1.2', () => lines('GET /v1/ HTTP/1.2', 'Host: apps.test')],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS handshake', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
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

  it.each(['', 'Connection: keep-alive'])('includes a Transfer-Encoding in HTTP/1.0: "%s"', async (connection) => {
    const fields = [chunked, ...(connection === '' ? [] : [connection])]
    const sent = put(fields, chunks).replace('HTTP/1.1', 'HTTP/1.0')
    const answer = await service.expectRefused(sent, 400, detail(notHttp.error.message))
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
  it('returns 431', async () => {
    expectError(await service.answerTo(get(`X-Large: ${'x'.repeat(20_480)}`)), 431, notHttp)
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
