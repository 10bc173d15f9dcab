import type { ServerResponse } from 'node:http'
import { errors } from '../../routers/kernel/errors.ts'

interface Holder {
  team: string | null
  app: string | null
  member: string | null
}

/** On a node: of an app's member, and of a team. */
const LIMITS = { member: 5, team: 1_000 }

/** Calls that wait for a change. */
export class Holds {
  readonly #limits: typeof LIMITS
  readonly #counts = { member: new Map<string, number>(), team: new Map<string, number>() }
  readonly #held = new Set<AbortController>()
  #isEnding = false

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  get size() {
    return this.#held.size
  }

  /**
   * Runs work that waits until its signal aborts: when the client leaves, or the service stops. Resolves to whether it may wait
   * again. Throws 429 if too many calls wait already.
   */
  async hold(
    { team, app, member }: Holder,
    response: ServerResponse,
    work: (ended: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    if (this.#isEnding || response.destroyed) return false
    const leavePlaces = this.#enter({ team: String(team), member: `${app}\0${member}` })
    const held = new AbortController()
    const leave = () => held.abort()
    this.#held.add(held)
    response.once('close', leave)
    try {
      await work(held.signal)
    } finally {
      response.off('close', leave)
      this.#held.delete(held)
      leavePlaces()
    }
    return !held.signal.aborted
  }

  /** Takes a place of each kind; the returned function gives them back. */
  #enter(ids: { member: string; team: string }) {
    const places = (['member', 'team'] as const).map((kind) => ({ kind, id: ids[kind], counts: this.#counts[kind] }))
    const isFull = places.some(({ kind, id, counts }) => (counts.get(id) ?? 0) >= this.#limits[kind])
    if (isFull) throw errors.waitsLimited()
    for (const { id, counts } of places) counts.set(id, (counts.get(id) ?? 0) + 1)
    return () => {
      for (const { id, counts } of places) {
        const left = counts.get(id)! - 1
        if (left === 0) counts.delete(id)
        else counts.set(id, left)
      }
    }
  }

  /** Ends what is held, and holds nothing more. */
  end() {
    this.#isEnding = true
    for (const held of this.#held) held.abort()
  }
}
