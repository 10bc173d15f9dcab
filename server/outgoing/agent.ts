import type { AgentOptions } from 'node:https'
import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { SecureContext, SecureContextOptions } from 'node:tls'
import { createSecureContext } from 'node:tls'

/** Limits of idle connections: for all receivers together, and for one. */
const MAX_IDLE = 1_024
const MAX_IDLE_PER_RECEIVER = 128

/**
 * Overrides NODE_TLS_REJECT_UNAUTHORIZED and --tls-min-v1.0, which are set for other purposes. The context is created once: per
 * connection it would cost as much as the handshake. The first connection creates it, since it takes 25 ms of CPU to read the
 * authorities. (Deno creates its own from the same options.)
 */
class StrictAgent extends Agent {
  readonly #trusted: SecureContextOptions
  #context: SecureContext | undefined

  constructor(ca: string | undefined, options: AgentOptions) {
    const trusted = { minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
    super({ ...options, ...trusted, rejectUnauthorized: true })
    this.#trusted = trusted
  }

  override createConnection(...[options, connected]: Parameters<Agent['createConnection']>) {
    this.#context ??= createSecureContext(this.#trusted)
    const secured = { ...options, secureContext: this.#context }
    return super.createConnection(secured, connected)
  }
}

/** Keeps idle connections open for `idleMs`, up to a number for all receivers together (Node's limit is per receiver). */
export class IdleAgent extends StrictAgent {
  #closed = false
  readonly #idle = new Set<Duplex>()
  readonly #watched = new WeakSet<Duplex>()

  constructor({ ca, idleMs }: { ca: string | undefined; idleMs: number }) {
    super(ca, { keepAlive: true, timeout: idleMs, maxFreeSockets: MAX_IDLE_PER_RECEIVER })
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

export const singleUseAgent = (ca: string | undefined) => new StrictAgent(ca, { keepAlive: false })
