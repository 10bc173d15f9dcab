import type { AgentOptions } from 'node:https'
import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'

/** How many connections wait for a next delivery: all receivers together, and of one, which gets many at once. */
const MAX_IDLE = 1_024
const MAX_IDLE_OF_ONE = 128

/** Keeps connections that have become idle for a while, so many at most. */
export class IdleAgent extends Agent {
  #closed = false
  readonly #idle = new Set<Duplex>()
  readonly #known = new WeakSet<Duplex>()

  constructor({ ca, idleMs }: { ca: string | undefined; idleMs: number }) {
    super({ ...strict(ca), keepAlive: true, timeout: idleMs, maxFreeSockets: MAX_IDLE_OF_ONE })
  }

  override keepSocketAlive(socket: Duplex) {
    if (this.#closed || this.#idle.size >= MAX_IDLE) return false
    // It says whether the receiver wants that, which its type does not know.
    if (!(super.keepSocketAlive(socket) as unknown)) return false
    this.#idle.add(socket)
    if (!this.#known.has(socket)) socket.once('close', () => this.#idle.delete(socket))
    this.#known.add(socket)
    return true
  }

  override reuseSocket(socket: Duplex, request: Parameters<Agent['reuseSocket']>[1]) {
    this.#idle.delete(socket)
    super.reuseSocket(socket, request)
  }

  /** Ends those that are idle, and each other one after its answer. */
  close() {
    this.#closed = true
    for (const socket of this.#idle) socket.destroy()
  }
}

/** Every request has a connection of its own. */
export const singleUse = (ca: string | undefined) => new Agent({ ...strict(ca), keepAlive: false })

/**
 * Whoever sets NODE_TLS_REJECT_UNAUTHORIZED or --tls-min-v1.0 for something else does not mean this. The context is
 * made once: for each connection it would cost as much as the handshake. (Deno makes its own of the same options.)
 */
function strict(ca: string | undefined): AgentOptions {
  const trusted = { minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
  return { ...trusted, rejectUnauthorized: true, secureContext: createSecureContext(trusted) }
}
