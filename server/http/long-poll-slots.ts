import type { ServerResponse } from 'node:http'
import { errors } from '../../routers/kernel/errors.ts'
import { LongPollSlot } from '../../routers/kernel/long-poll-slot.ts'
import { returnMs } from './event-stream.ts'

interface Holder {
  team: string | null
  app: string | null
  member: string | null
}

/** On a node: of an app's member, of an app itself, and of a team. */
const LIMITS = { member: 5, app: 100, team: 1_000 }
type HolderType = keyof typeof LIMITS

/** Calls that wait for a change. */
export class LongPollSlots {
  readonly #limits: typeof LIMITS
  readonly #counts: Record<HolderType, Map<string, number>> = { member: new Map(), app: new Map(), team: new Map() }
  readonly #held = new Set<LongPollSlot>()
  /** When a stopping node stops to serve, by performance.now(). */
  #servesUntil: number | undefined

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  get size() {
    return this.#held.size
  }

  /** Takes a place until `release`, or until the client leaves. Throws 429 if too many calls wait already. */
  hold({ team, app, member }: Holder, response: ServerResponse): LongPollSlot {
    const holder = member === null ? (['app', String(app)] as const) : (['member', `${app}\0${member}`] as const)
    const leavePlaces = this.#enter([holder, ['team', String(team)]])
    let timer: NodeJS.Timeout | undefined
    const slot = new LongPollSlot(() => {
      clearTimeout(timer)
      this.#held.delete(slot)
      response.off('close', leave)
      leavePlaces()
    })
    const leave = () => {
      slot.end()
      slot.release()
    }
    this.#held.add(slot)
    response.once('close', leave)
    const msLeft = this.#servesUntil === undefined ? Number.POSITIVE_INFINITY : this.#servesUntil - performance.now()
    if (msLeft <= 0 || response.destroyed) leave()
    else if (msLeft < Number.POSITIVE_INFINITY) {
      timer = setTimeout(() => slot.end(), Math.min(returnMs(), msLeft)).unref()
    }
    return slot
  }

  /** Takes a place of each kind; the returned function gives them back. */
  #enter(holders: readonly (readonly [HolderType, string])[]) {
    const places = holders.map(([type, id]) => ({ type, id, counts: this.#counts[type] }))
    const isFull = places.some(({ type, id, counts }) => (counts.get(id) ?? 0) >= this.#limits[type])
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

  /**
   * Ends what is held. The node serves on for `drainMs`, and until then holds each new call for 1 to 2 s: its client asks again as
   * soon as it is answered, and each call uses up its team's quota.
   */
  end(drainMs = 0) {
    this.#servesUntil = performance.now() + drainMs
    for (const slot of this.#held) slot.end()
  }
}
