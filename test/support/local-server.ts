import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'
import type { AtEnd } from './databases.ts'

/** Lets a server listen on this machine until the test ends. Returns its port. */
export async function listenLocally(
  server: Server & Partial<Pick<HttpServer, 'closeAllConnections'>>,
  atEnd: AtEnd = onTestFinished,
): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    server.close()
    server.closeAllConnections?.()
  })
  return (server.address() as AddressInfo).port
}
