import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRawReceiver } from './raw-receiver.ts'
import { ending, message, senderTo, timeouts, unanswered } from './sending.ts'

/** Writes a byte every few milliseconds until the sender closes the connection. */
function drip(socket: TLSSocket, head = '') {
  socket.write(head)
  const timer = setInterval(() => socket.write('x'), 5)
  socket.once('close', () => clearInterval(timer))
}

/** Writes as much as the sender takes. */
function flood(socket: TLSSocket, head: string, chunk: string) {
  socket.write(head)
  const more = () => {
    while (socket.writable && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

const raw = async (answer: (socket: TLSSocket) => void) => ending(await startRawReceiver(answer))

/** Calls it when Node has read the headers of a response and the sender has seen them. */
function onceHeadersHaveCome(then: () => void) {
  const channel = 'http.client.response.finish'
  const come = () => {
    unsubscribe(channel, come)
    setImmediate(then)
  }
  subscribe(channel, come)
}

/** The connection does not outlive the attempt. */
const isClosed = (receiver: { open: () => number }) => expect.poll(receiver.open).toBe(0)

const soon = { timeouts: { totalMs: 500 } }
// Longer than the test's own timeout: the result must not depend on it.
const atOnce = { timeouts: { totalMs: 300_000 } }

describe('a receiver', () => {
  it.each([
    ['says nothing', () => {}],
    ['sends its headers byte by byte', (socket: TLSSocket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ')],
    [
      'only ever sends early hints',
      (socket: TLSSocket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    ],
  ])('that %s times out', async (_what, answer) => {
    const receiver = await raw(answer)
    expect(await senderTo(receiver, soon).send(message(receiver.url))).toEqual(unanswered('timeout'))
    await isClosed(receiver)
  })

  it.each([
    ['200 OK', null],
    ['500 Oh', 'status 500'],
  ])('that responds with %s and sends its body byte by byte counts as having responded', async (line, error) => {
    const receiver = await raw((socket) => drip(socket, `HTTP/1.1 ${line}\r\ncontent-length: 1000000\r\n\r\nx`))
    const pass = timeouts()
    onceHeadersHaveCome(() => pass(15_000))
    const result = await senderTo(receiver).send(message(receiver.url))
    expect(result).toMatchObject({
      status: Number(line.slice(0, 3)),
      error,
      responseBody: expect.stringMatching(/^x+$/),
    })
    await isClosed(receiver)
  })

  it.each(['transfer-encoding: chunked', 'connection: close'])(
    'that never ends its body is disconnected (%s)',
    async (header) => {
      const chunk = header.startsWith('t') ? `1000\r\n${'x'.repeat(4_096)}\r\n` : 'x'.repeat(4_096)
      const receiver = await raw((socket) => flood(socket, `HTTP/1.1 200 OK\r\n${header}\r\n\r\n`, chunk))
      expect(await senderTo(receiver, atOnce).send(message(receiver.url))).toMatchObject({
        status: 200,
        error: null,
        responseBody: 'x'.repeat(1_024),
      })
      await isClosed(receiver)
    },
  )

  it.each([
    ['one large header', `x: ${'y'.repeat(40_000)}\r\n`],
    ['many headers', 'x: y\r\n'.repeat(10_000)],
  ])('with %s fails', async (_what, headers) => {
    const receiver = await raw((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`))
    const result = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(result).toEqual(unanswered('HPE_HEADER_OVERFLOW'))
    await isClosed(receiver)
  })

  it.each([
    ['speaks another protocol', 'SSH-2.0-receiver\r\n', 'HPE_INVALID_CONSTANT'],
    ['upgrades the connection', 'HTTP/1.1 101 OK\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', /./],
    ['sends a length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', /^HPE_/],
  ])('that %s fails', async (_what, answer, error) => {
    const receiver = await raw((socket) => void socket.write(answer))
    const result = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(result).toEqual({ ...unanswered(''), error: expect.stringMatching(error) })
    await isClosed(receiver)
  })

  it('that closes the connection in the middle of its body counts as having responded', async () => {
    const receiver = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))
    const result = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(result).toMatchObject({ status: 200, error: null, responseBody: 'half' })
  })

  it.each([
    ['never completes the TLS handshake', '', 'connect timeout', 500],
    ['has no TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^(?:ERR_SSL_|EPROTO)/, 300_000],
  ])('that %s fails', async (_what, greeting, error, connectMs) => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write(greeting)
      onTestFinished(() => void socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const sender = senderTo({ ca: '' }, { timeouts: { connectMs, totalMs: 300_000 } })
    const result = await sender.send(message(`https://127.0.0.1:${port}/`))
    expect(result).toEqual({ ...unanswered(''), error: expect.stringMatching(error) })
  })
})
