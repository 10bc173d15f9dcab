import type { AgentOptions } from 'node:https'
import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'

/** Limits of idle connections: for all receivers together, and for one. */
const MAX_IDLE = 1_024
const MAX_IDLE_PER_RECEIVER = 128

/** Keeps idle connections open for `idleMs`, up to a number for all receivers together (Node's limit is per receiver). */
export class IdleAgent extends Agent {
  #closed = false
  readonly #idle = new Set<Duplex>()
  readonly #watched = new WeakSet<Duplex>()

  constructor({ ca, idleMs }: { ca: string | undefined; idleMs: number }) {
    super({ ...strict(ca), keepAlive: true, timeout: idleMs, maxFreeSockets: MAX_IDLE_PER_RECEIVER })
  }

  override keepSocketAlive(socket: Duplex) {
    if (this.#closed || this.#idle.size >= MAX_IDLE) return false
    // It returns false when the receiver wants to close the connection; its type says void.
    if (!(super.keepSocketAlive(socket) as unknown)) return false
    this.#idle.add(socket)
    if (!this.#watched.has(socket)) socket.once('close', () => this.#idle.delete(socket))
    this.#watched.add(socket)
    return true
  }

  override reuseSocket(socket: Duplex, request: Parameters<Agent['reuseSocket']>[1]) {
    this.#idle.delete(socket)
    super.reuseSocket(socket, request)
  }

  /** Closes idle connections now, and the others after their responses. */
  close() {
    this.#closed = true
    for (const socket of this.#idle) socket.destroy()
  }
}

export const singleUseAgent = (ca: string | undefined) => new Agent({ ...strict(ca), keepAlive: false })

/**
 * Overrides NODE_TLS_REJECT_UNAUTHORIZED and --tls-min-v1.0, which are set for other purposes. The context is created once: per
 * connection it would cost as much as the handshake. (Deno creates its own from the same options.)
 */
function strict(ca: string | undefined): AgentOptions {
  const trusted = { minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
  return { ...trusted, rejectUnauthorized: true, secureContext: createSecureContext(trusted) }
}
