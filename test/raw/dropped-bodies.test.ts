import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { Semaphore } from 'async-mutex'
import { expect, it, onTestFinished } from 'vitest'
import { dropBody } from '../../server/http/drain.ts'
import { listenLocally } from '../support/local-server.ts'
import { Connection } from './socket.ts'

const BODY_BYTES = 8 * 1024 * 1024
const MINUTE_MS = 60_000

/** A server that refuses each request at once, and drops its body within these limits. */
async function startRefusing(atOnce: number) {
  const requests: IncomingMessage[] = []
  const limits = { turns: new Semaphore(atOnce), turnMs: MINUTE_MS, maxMs: MINUTE_MS }
  const server = createServer({ keepAliveTimeout: MINUTE_MS }, (request, response) => {
    requests.push(request)
    void dropBody(request, response, limits)
    response.writeHead(401, { 'Content-Length': 0 }).end()
  })
  const port = await listenLocally(server)
  /** A connection that has the answer to the head of its upload. */
  const refused = async (length = BODY_BYTES) => {
    const connection = await Connection.open(port)
    onTestFinished(() => connection.reset())
    await connection.send(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`)
    expect((await connection.answer()).status).toBe(401)
    return connection
  }
  return { requests, refused }
}

// Deno's server has no socket that pauses.
it.skipIf('Deno' in globalThis)(
  'a refused body is read no further while others have all the turns, and dropped when one is left',
  async () => {
    const { requests, refused } = await startRefusing(8)
    const stalled: Connection[] = []
    for (let count = 0; count < 9; count++) stalled.push(await refused())
    const sender = await refused()
    const { socket } = requests.at(-1)!

    const sent = sender.send(Buffer.alloc(BODY_BYTES, 'x'))
    await expect.poll(() => socket.isPaused()).toBe(true)
    // A later connection is served, and what the system had taken of the body is still there.
    await refused(0)
    expect(socket.isPaused()).toBe(true)
    expect(socket.bytesRead).toBeLessThan(BODY_BYTES / 8)

    // The ninth of those that stall has waited for longer.
    stalled[0]!.reset()
    stalled[1]!.reset()
    await sent
    await sender.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    expect((await sender.answer()).status).toBe(401)
    expect(socket.bytesRead).toBeGreaterThan(BODY_BYTES)
  },
)

it('connections whose refused bodies end within and after their turns serve the next requests', async () => {
  const { refused } = await startRefusing(1)
  const connections = await Promise.all(Array.from({ length: 3 }, () => refused(10)))
  for (let round = 0; round < 3; round++) {
    for (const connection of connections) {
      await connection.send(`${'x'.repeat(10)}PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n`)
      expect((await connection.answer()).status).toBe(401)
    }
  }
})
