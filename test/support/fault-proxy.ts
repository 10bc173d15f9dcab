import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'

/**
 * `refuse`: nothing listens, and a Unix socket is gone. `reset`: connections break. `blackhole`: bytes are dropped and connections
 * stay open.
 */
export type Fault = 'refuse' | 'reset' | 'blackhole' | 'latency'

/** A proxy between the service and its database, over TCP or a Unix socket, that simulates network faults. */
export class FaultProxy {
  /** The database's address through the proxy. */
  readonly url: string
  /** Delay in each direction. */
  latencyMs = 250
  #target: { host: string; port: number }
  readonly #at: number | string
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #fault: Fault | 'pass' = 'pass'
  #dropped = 0

  private constructor(url: URL, server: Server, directory: string | undefined) {
    this.#target = { host: url.hostname, port: Number(url.port || 5432) }
    const { port } = server.address() as AddressInfo
    this.#at = directory === undefined ? port : socketIn(directory)
    this.#server = server.on('connection', this.#accept)
    const own = new URL(url)
    own.hostname = directory === undefined ? '127.0.0.1' : encodeURIComponent(directory)
    own.port = String(port ?? '')
    this.url = own.href
  }

  /** With a directory, over a Unix socket in it. */
  static async to(url: string, directory?: string): Promise<FaultProxy> {
    const server = await listening(directory === undefined ? 0 : socketIn(directory))
    return new FaultProxy(new URL(url), server, directory)
  }

  /** Sends new connections to another server, as after a failover. */
  retarget(port: number) {
    this.#target = { ...this.#target, port }
  }

  /** Starts a fault. `refuse` and `reset` also break open connections. */
  async begin(fault: Fault) {
    this.#fault = fault
    if (fault === 'refuse') {
      this.#server?.close()
      this.#server = undefined
    }
    if (fault === 'refuse' || fault === 'reset') this.breakConnections()
  }

  /** Ends the fault, for open and new connections. */
  async end() {
    this.#fault = 'pass'
    if (this.#server) return
    this.#server = (await listening(this.#at)).on('connection', this.#accept)
  }

  /** How many clients are connected. */
  get connections() {
    return this.#sockets.size / 2
  }

  /** The bytes that a blackhole has dropped. */
  get dropped() {
    return this.#dropped
  }

  /** Breaks the open connections once, even during a query. */
  breakConnections() {
    this.breaking()()
  }

  /** Breaks the connections that are open now, later. */
  breaking() {
    const sockets = [...this.#sockets]
    return () => {
      // A Unix socket has no reset.
      for (const socket of sockets) typeof this.#at === 'string' ? socket.destroy() : socket.resetAndDestroy()
    }
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
      if (this.#fault === 'blackhole') {
        this.#dropped += bytes.length
        return
      }
      if (this.#fault === 'latency') setTimeout(() => to.write(bytes), this.latencyMs)
      else to.write(bytes)
    })
    from.on('error', () => {})
    from.on('end', () => {
      if (this.#fault !== 'blackhole') from.end()
    })
    from.on('close', () => {
      this.#sockets.delete(from)
      // A blackhole drops the FIN as well.
      if (this.#fault !== 'blackhole') to.destroy()
    })
  }
}

/** As PostgreSQL names it. */
const socketIn = (directory: string) => join(directory, '.s.PGSQL.5432')

async function listening(at: number | string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true })
  if (typeof at === 'number') server.listen(at, '127.0.0.1')
  else server.listen(at)
  await once(server, 'listening')
  return server
}
