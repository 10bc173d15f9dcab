import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRawReceiver } from './raw-receiver.ts'
import { ending, message, senderTo, unanswered } from './sending.ts'

/** One byte each few milliseconds, until the sender has had enough. */
function drip(socket: TLSSocket, head = '') {
  socket.write(head)
  const timer = setInterval(() => socket.write('x'), 5)
  socket.once('close', () => clearInterval(timer))
}

/** As much as the sender takes. */
function flood(socket: TLSSocket, head: string, chunk: string) {
  socket.write(head)
  const more = () => {
    while (socket.writable && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

const raw = async (answer: (socket: TLSSocket) => void) => ending(await startRawReceiver(answer))

/** Such a receiver costs a connection no longer than the try lasts. */
const isLetGo = (receiver: { open: () => number }) => expect.poll(receiver.open, { timeout: 10_000 }).toBe(0)

const soon = { timeouts: { totalMs: 500 } }
// The test would time out if these were only ended by the deadline.
const atOnce = { timeouts: { totalMs: 300_000 } }

describe('a receiver', () => {
  it.each([
    ['says nothing', () => {}],
    ['sends its headers byte by byte', (socket: TLSSocket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ')],
    [
      'only ever sends early hints',
      (socket: TLSSocket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    ],
  ])('that %s is given up at the deadline', async (_what, answer) => {
    const receiver = await raw(answer)
    expect(await senderTo(receiver, soon).send(message(receiver.url))).toEqual(unanswered('timeout'))
    await isLetGo(receiver)
  })

  it.each([
    ['200 OK', null],
    ['500 Oh', 'status 500'],
  ])('that answers %s and then sends its body byte by byte has answered', async (line, error) => {
    const receiver = await raw((socket) => drip(socket, `HTTP/1.1 ${line}\r\ncontent-length: 1000000\r\n\r\nx`))
    const outcome = await senderTo(receiver, { timeouts: { totalMs: 3_000 } }).send(message(receiver.url))
    expect(outcome).toMatchObject({
      status: Number(line.slice(0, 3)),
      error,
      responseBody: expect.stringMatching(/^x+$/),
    })
    await isLetGo(receiver)
  })

  it.each(['transfer-encoding: chunked', 'connection: close'])(
    'that never ends its body is cut (%s)',
    async (header) => {
      const chunk = header.startsWith('t') ? `1000\r\n${'x'.repeat(4_096)}\r\n` : 'x'.repeat(4_096)
      const receiver = await raw((socket) => flood(socket, `HTTP/1.1 200 OK\r\n${header}\r\n\r\n`, chunk))
      expect(await senderTo(receiver, atOnce).send(message(receiver.url))).toMatchObject({
        status: 200,
        error: null,
        responseBody: 'x'.repeat(4_096),
      })
      await isLetGo(receiver)
    },
  )

  it.each([
    ['one large header', `x: ${'y'.repeat(40_000)}\r\n`],
    ['many headers', 'x: y\r\n'.repeat(10_000)],
  ])('with %s is refused', async (_what, headers) => {
    const receiver = await raw((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`))
    const outcome = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(outcome).toEqual(unanswered('HPE_HEADER_OVERFLOW'))
    await isLetGo(receiver)
  })

  it.each([
    ['speaks something else', 'SSH-2.0-receiver\r\n', 'HPE_INVALID_CONSTANT'],
    ['wants to upgrade', 'HTTP/1.1 101 OK\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', /./],
    ['sends a length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', /^HPE_/],
  ])('that %s is refused', async (_what, answer, error) => {
    const receiver = await raw((socket) => void socket.write(answer))
    const outcome = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(outcome).toEqual({ ...unanswered(''), error: expect.stringMatching(error) })
    await isLetGo(receiver)
  })

  it('that closes the connection in the middle of its body has answered', async () => {
    const receiver = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))
    const outcome = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(outcome).toMatchObject({ status: 200, error: null, responseBody: 'half' })
  })

  it.each([
    ['never shakes hands', '', 'connect timeout', 500],
    ['has no TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^(?:ERR_SSL_|EPROTO)/, 300_000],
  ])('that %s is given up', async (_what, says, error, connectMs) => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write(says)
      onTestFinished(() => void socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const sender = senderTo({ ca: '' }, { timeouts: { connectMs, totalMs: 300_000 } })
    const outcome = await sender.send(message(`https://127.0.0.1:${port}/`))
    expect(outcome).toEqual({ ...unanswered(''), error: expect.stringMatching(error) })
  })
})
