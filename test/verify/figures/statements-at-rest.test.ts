import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { dataDirectory, run, start, until } from '../../process/service.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { noteFigure } from '../noted-figure.ts'

const MINUTE_MS = 60_000

/** A proxy to a database that counts statements: simple queries, and executions of prepared ones. */
async function countingProxy(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let statements = 0
  const server = createServer((client) => {
    const database = connect({ host: target.hostname, port: Number(target.port || 5432) })
    for (const socket of [client, database]) sockets.add(socket.on('error', () => {}))
    client.pipe(database)
    database.pipe(client)
    let unread = Buffer.alloc(0)
    // The first message has no type.
    let header = 0
    client.on('data', (bytes) => {
      unread = Buffer.concat([unread, bytes as Buffer])
      while (unread.length >= header + 4) {
        const end = header + unread.readInt32BE(header)
        if (unread.length < end) break
        if (header === 1 && 'QE'.includes(String.fromCharCode(unread[0]!))) statements++
        unread = unread.subarray(end)
        header = 1
      }
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: proxied.href, statements: () => statements }
}

it('a node with its worker sends at most 60 statements a minute at rest, outside of the hourly housekeeping, a worker 20', {
  timeout: 5 * MINUTE_MS,
}, async () => {
  const url = await emptyDatabase()
  const [ofNode, ofWorker] = [await countingProxy(url), await countingProxy(url)]
  const env = { NODE_ENV: 'production', SECRETS_KEY: Buffer.alloc(32).toString('base64') }
  await start({ ...env, DATABASE_URL: ofNode.url, DATA_DIR: await dataDirectory() })
  const entry = fileURLToPath(new URL('../../../dist/server/worker.js', import.meta.url))
  const worker = run([entry], { ...env, DATABASE_URL: ofWorker.url })
  onTestFinished(async () => {
    worker.child.kill()
    await worker.ended
  })
  await until(
    () => query(url, 'SELECT FROM "Housekeeping" WHERE "finishedAt" IS NOT NULL'),
    (finished) => finished.length > 15,
    3 * MINUTE_MS,
  )
  await until(
    () => query(url, 'SELECT FROM "Housekeeping" WHERE "finishedAt" IS NULL'),
    (unfinished) => unfinished.length === 0,
  )
  const before = [ofNode.statements(), ofWorker.statements()]
  await pause(MINUTE_MS)
  for (const [i, { name, bound }] of [
    { name: 'node at rest', bound: 60 },
    { name: 'worker at rest', bound: 20 },
  ].entries()) {
    const value = [ofNode, ofWorker][i]!.statements() - before[i]!
    noteFigure({ name, value, unit: 'statements a minute', bound })
    expect.soft(value, name).toBeGreaterThan(0)
    expect.soft(value, name).toBeLessThanOrEqual(bound)
  }
})
