import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy to a database that counts statements: simple queries, and executions of prepared ones. */
export async function countingProxy(url: string) {
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
