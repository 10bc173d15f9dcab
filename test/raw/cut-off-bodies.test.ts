import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import { readBytes } from '../../server/http/body-bytes.ts'
import { Connection } from './socket.ts'

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

const thrownFor = (request: IncomingMessage) =>
  readBytes(request, 1_000_000, errors.bodyTooLarge, async () => {}).catch((error) => error)

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
