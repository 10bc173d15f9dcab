import type { AgentOptions } from 'node:https'
import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'

/** How many connections wait for a next delivery, all receivers together. */
const MAX_IDLE = 256

/** Whoever sets NODE_TLS_REJECT_UNAUTHORIZED or --tls-min-v1.0 for something else does not mean this. */
const strict = { rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const

/** Keeps connections that have become idle for a while, so many at most. */
export class IdleAgent extends Agent {
  #closed = false

  constructor({ ca, idleMs }: { ca: string | undefined; idleMs: number }) {
    super({ ...strict, ...authority(ca), keepAlive: true, timeout: idleMs, maxFreeSockets: 16 })
  }

  override keepSocketAlive(socket: Duplex) {
    if (this.#closed || this.#idle().length >= MAX_IDLE) return false
    return super.keepSocketAlive(socket)
  }

  /** Ends those that are idle, and each other one after its answer. */
  close() {
    this.#closed = true
    for (const socket of this.#idle()) socket.destroy()
  }

  #idle() {
    return Object.values(this.freeSockets).flatMap((sockets) => sockets ?? [])
  }
}

/** Every request has a connection of its own. */
export const singleUse = (ca: string | undefined) => new Agent({ ...strict, ...authority(ca), keepAlive: false })

const authority = (ca: string | undefined): AgentOptions => (ca === undefined ? {} : { ca })
