import type { TLSSocket } from 'node:tls'
import { expect } from 'vitest'
import { startRawReceiver } from './raw-receiver.ts'
import { ending } from './sending.ts'

type Answer = (socket: TLSSocket) => void

/** Writes a byte every few milliseconds until the connection is closed. */
export function drip(socket: TLSSocket, head = '') {
  socket.write(head)
  const timer = setInterval(() => socket.write('x'), 5)
  socket.once('close', () => clearInterval(timer))
}

/** Writes as much as the other side takes. */
function flood(socket: TLSSocket, head: string, chunk: string) {
  socket.write(head)
  const more = () => {
    while (socket.writable && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

export const raw = async (answer: Answer) => ending(await startRawReceiver(answer))

/** The connection does not outlive the attempt. */
export const isClosed = (receiver: { open: () => number }) => expect.poll(receiver.open).toBe(0)

const writing =
  (text: string): Answer =>
  (socket) =>
    void socket.write(text)

/** No response comes, and the connection stays. */
export const silent: [string, Answer][] = [
  ['says nothing', () => {}],
  ['sends its headers byte by byte', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ')],
  ['only ever sends early hints', (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
]

/** Instead of a response, with the error that a sender has of it. */
export const broken: [string, Answer, RegExp][] = [
  [
    'has one large header',
    writing(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\ncontent-length: 0\r\n\r\n`),
    /^HPE_HEADER_OVERFLOW$/,
  ],
  [
    'has many headers',
    writing(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}content-length: 0\r\n\r\n`),
    /^HPE_HEADER_OVERFLOW$/,
  ],
  ['speaks another protocol', writing('SSH-2.0-receiver\r\n'), /^HPE_INVALID_CONSTANT$/],
  ['upgrades the connection', writing('HTTP/1.1 101 OK\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'), /./],
  ['sends a length twice', writing('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'), /^HPE_/],
  ['closes the connection', (socket) => void socket.end(), /^ECONNRESET$/],
  ['closes the connection in its headers', (socket) => void socket.end('HTTP/1.1 200 OK\r\nx: '), /./],
]

/** A body without end, as fast as it is taken. */
export const endless: [string, Answer][] = [
  ['transfer-encoding: chunked', `1000\r\n${'x'.repeat(4_096)}\r\n`],
  ['connection: close', 'x'.repeat(4_096)],
].map(([header, chunk]) => [header!, (socket) => flood(socket, `HTTP/1.1 200 OK\r\n${header}\r\n\r\n`, chunk!)])

/** A body that is not whole, after `half`. */
export const cut: [string, Answer][] = [
  ['closes the connection in', (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')],
  ['makes no sense in', writing('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nno length\r\n')],
]
