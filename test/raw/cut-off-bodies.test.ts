import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { readBytes } from '../../rest-facade/body-bytes.ts'
import { errors } from '../../routers/errors.ts'
import { Connection } from './socket.ts'

/** What `readBytes` throws for a request whose client has left after these bytes of its body. */
async function thrownFor(framing: string, sent: string, how: 'end' | 'reset') {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connection = await Connection.open((server.address() as AddressInfo).port)
  const requested = once(server, 'request')
  await connection.send(`PUT / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n${sent}`)
  const [request] = (await requested) as [IncomingMessage]
  const thrown = readBytes(request, 1_000_000, errors.bodyTooLarge, async () => {}).catch((error) => error)
  connection[how]()
  return thrown
}

it.each([
  ['a small body', 'Content-Length: 100', '{"value":', 'end'],
  ['a small body', 'Content-Length: 100', '{"value":', 'reset'],
  ['a large body', 'Content-Length: 100000', '{"value":', 'end'],
  ['a large body', 'Content-Length: 100000', '{"value":', 'reset'],
  ['a chunked body', 'Transfer-Encoding: chunked', '4\r\n{"va\r\n', 'end'],
  ['no byte of a body', 'Content-Length: 100', '', 'reset'],
] as const)('%s that its client ends early is 400 with these words: %s %j %s', async (_, framing, sent, how) => {
  expect(await thrownFor(framing, sent, how)).toMatchObject({
    status: 400,
    publicCode: 'invalid_request',
    message: 'The body ended early.',
  })
})
