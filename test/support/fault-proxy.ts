import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** `refuse`: nobody listens. `reset`: connections break. `blackhole`: bytes vanish, and the connection seems well. */
export type Fault = 'refuse' | 'reset' | 'blackhole' | 'latency'

/** Stands between the service and its database, and does to their connections what networks do. */
export class FaultProxy {
  /** The address of the database, through here. */
  readonly url: string
  /** In each direction. */
  latencyMs = 250
  readonly #target: { host: string; port: number }
  readonly #port: number
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #fault: Fault | 'pass' = 'pass'

  private constructor(url: URL, server: Server) {
    this.#target = { host: url.hostname, port: Number(url.port || 5432) }
    this.#port = (server.address() as AddressInfo).port
    this.#server = server.on('connection', this.#accept)
    const own = new URL(url)
    own.hostname = '127.0.0.1'
    own.port = String(this.#port)
    this.url = own.href
  }

  static async to(url: string): Promise<FaultProxy> {
    return new FaultProxy(new URL(url), await listening(0))
  }

  /** From now on. Connections that stand break, but for those whose bytes merely vanish or are late. */
  async begin(fault: Fault) {
    this.#fault = fault
    if (fault === 'refuse') {
      this.#server?.close()
      this.#server = undefined
    }
    if (fault === 'refuse' || fault === 'reset') this.breakConnections()
  }

  /** Lets everything pass again, over connections old and new. */
  async end() {
    this.#fault = 'pass'
    if (this.#server) return
    this.#server = (await listening(this.#port)).on('connection', this.#accept)
  }

  /** Once, also in the middle of a query. */
  breakConnections() {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  close() {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  readonly #accept = (client: Socket) => {
    if (this.#fault === 'reset') return client.resetAndDestroy()
    const database = connect(this.#target)
    this.#pipe(client, database)
    this.#pipe(database, client)
    return undefined
  }

  #pipe(from: Socket, to: Socket) {
    this.#sockets.add(from)
    from.on('data', (bytes) => {
      if (this.#fault === 'blackhole') return
      if (this.#fault === 'latency') setTimeout(() => to.write(bytes), this.latencyMs)
      else to.write(bytes)
    })
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      // What has vanished includes the news that the other side is gone.
      if (this.#fault !== 'blackhole') to.destroy()
    })
  }
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}
