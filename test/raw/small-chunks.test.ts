import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import { readBytes, SMALL_BODY_BYTES } from '../../server/http/body-bytes.ts'
import { peekBody } from '../../server/oauth/endpoints/token-body.ts'
import { deferred } from '../support/deferred.ts'
import { listenLocally } from '../support/local-server.ts'
import { Connection } from './socket.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CHUNKED_HEAD = 'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const END = '0\r\n\r\n'
const LIMIT = 10_000_000

/** Each byte a chunk. */
const inSingleBytes = (text: string) => text.replace(/./gs, '1\r\n$&\r\n')
const digits = (length: number) => '0123456789'.repeat(length / 10)

/** A connection to a server that answers with the body that `read` returns; `request` is the last one. */
async function serve(read: (request: IncomingMessage) => Promise<Buffer | null>) {
  const server = createServer((request, response) => {
    served.request = request
    read(request).then(
      (bytes) => response.end(bytes),
      () => response.destroy(),
    )
  })
  const connection = await Connection.open(await listenLocally(server))
  onTestFinished(() => connection.reset())
  const served = { connection, request: undefined as IncomingMessage | undefined }
  return served
}

it('of a body in single bytes, no reader keeps the chunks', async () => {
  const body = digits(20_000)
  const chunks: WeakRef<Buffer>[] = []
  const { connection } = await serve((request) => {
    request.on('data', (chunk: Buffer) => chunks.push(new WeakRef(chunk)))
    return readBytes(request, LIMIT, errors.bodyTooLarge, async () => {})
  })
  await connection.send(CHUNKED_HEAD + inSingleBytes(body))
  await expect.poll(() => chunks.length).toBe(body.length)
  collectGarbage()
  expect(chunks.filter((chunk) => chunk.deref()).length).toBeLessThan(10)
  await connection.send(END)
  expect((await connection.answer()).text).toBe(body)
})

it('of a form in single bytes that is read twice, nobody keeps what was read', async () => {
  const form = digits(300)
  const reads: WeakRef<Buffer>[] = []
  const { connection } = await serve((request) => {
    const { read } = request
    request.read = (size?: number) => {
      const bytes = read.call(request, size)
      if (bytes) reads.push(new WeakRef(bytes))
      return bytes
    }
    return peekBody(request, LIMIT)
  })
  await connection.send(CHUNKED_HEAD)
  for (const [at, digit] of [...form].entries()) {
    await connection.send(inSingleBytes(digit))
    await expect.poll(() => reads.length, { interval: 1 }).toBe(at + 1)
  }
  collectGarbage()
  expect(reads.filter((bytes) => bytes.deref()).length).toBeLessThan(10)
  await connection.send(END)
  expect((await connection.answer()).text).toBe(form)
})

it('a chunked body that waits for memory stops its sender, and is whole afterwards', async () => {
  const body = digits(1_000_000)
  const memory = deferred()
  let taken = 0
  const served = await serve((request) => {
    request.on('data', ({ length }: Buffer) => (taken += length))
    return readBytes(request, LIMIT, errors.bodyTooLarge, () => memory.promise)
  })
  const { connection } = served
  const sent = connection.send(CHUNKED_HEAD + inSingleBytes(body) + END)
  await expect.poll(() => served.request?.socket.isPaused()).toBe(true)
  expect(taken).toBeGreaterThan(SMALL_BODY_BYTES)
  // What one read of the socket brings.
  expect(taken).toBeLessThan(SMALL_BODY_BYTES + 2 * 65_536)
  memory.resolve()
  await sent
  expect((await connection.answer()).text).toBe(body)
})

it('a chunked body that ends while it waits for memory is answered afterwards, as is the next request', async () => {
  const body = digits(20_000)
  const memory = deferred()
  let reservations = 0
  const { connection } = await serve((request) =>
    readBytes(request, LIMIT, errors.bodyTooLarge, () => {
      reservations++
      return memory.promise
    }),
  )
  await connection.send(CHUNKED_HEAD + inSingleBytes(body) + END)
  await expect.poll(() => reservations).toBe(1)
  memory.resolve()
  expect((await connection.answer()).text).toBe(body)
  await connection.send(`${CHUNKED_HEAD}1\r\nx\r\n${END}`)
  expect((await connection.answer()).text).toBe('x')
})
