import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { int, statement, text } from '../../prisma/pg/statement.ts'

export interface Store {
  app: string
  club: string
}

interface Numbered extends Store {
  changes: number
}

/** Between two looks at the watched stores, for writes of other nodes and other hands. */
const LOOK_MS = 1_000

const ofStores = statement(
  'storage_numbers',
  `SELECT app, club, changes FROM unnest($1::text[], $2::text[]) AS watched (app, club)
    JOIN "StorageUsage" ON "appId" = app AND "clubId" = club`,
  { app: text, club: text, changes: int },
)

const keyOf = ({ app, club }: Store) => `${app}\0${club}`

/** Tells readers that a store has changed: at once after a write of this process, else within a second. */
export class StoreWatch {
  readonly #db: Database
  readonly #lookMs: number
  readonly #numbers: Statement<Numbered>
  readonly #watched = new Map<string, Set<Listener>>()
  #wakes = 0
  readonly #readings = new Map<string, Promise<unknown>>()
  #isLooking = false

  /** `numbers` returns of the watched stores that of their last change. */
  constructor(db: Database, lookMs = LOOK_MS, numbers: Statement<Numbered> = ofStores) {
    this.#db = db
    this.#lookMs = lookMs
    this.#numbers = numbers
  }

  /** Passes a change on to other nodes. */
  onWake: (store: Store) => void = () => {}

  /** How many listeners there are. */
  get size() {
    let size = 0
    for (const { size: one } of this.#watched.values()) size += one
    return size
  }

  /** Until `close`. */
  listen(store: Store): Listener {
    const key = keyOf(store)
    const listeners = this.#watched.get(key) ?? new Set()
    this.#watched.set(key, listeners)
    const listener = new Listener(store, () => {
      // A second time, the place may be that of later listeners.
      if (listeners.delete(listener) && listeners.size === 0) this.#watched.delete(key)
    })
    listeners.add(listener)
    if (!this.#isLooking) void this.#look()
    return listener
  }

  /** Readers that the same change has woken share one reading: a write makes one query for 1,000 of them. */
  together<Page>(key: string, read: () => Promise<Page>): Promise<Page> {
    // A reading that began before a later change may lack it.
    const current = `${this.#wakes}\0${key}`
    const begun = this.#readings.get(current) as Promise<Page> | undefined
    if (begun) return begun
    const reading = read()
    this.#readings.set(current, reading)
    const end = () => void this.#readings.delete(current)
    reading.then(end, end)
    return reading
  }

  /** This process has changed the store. */
  wake(store: Store) {
    this.wakeHere(store)
    this.onWake(store)
  }

  /** Another node has. */
  wakeHere(store: Store) {
    this.#wakes++
    for (const listener of this.#watched.get(keyOf(store)) ?? []) listener.wake()
  }

  /** One statement for all stores. It ends with the last listener. */
  async #look() {
    this.#isLooking = true
    for (;;) {
      await pause(this.#lookMs, undefined, { ref: false })
      if (this.#watched.size === 0) break
      const stores = [...this.#watched.values()].map(([listener]) => listener!.store)
      const values = [arrayOf(stores.map(({ app }) => app)), arrayOf(stores.map(({ club }) => club))]
      // An unreachable database is asked again at the next look.
      const rows = await this.#db.execute(this.#numbers, values).catch(() => [])
      this.#wakes++
      for (const { changes, ...store } of rows) {
        for (const listener of this.#watched.get(keyOf(store)) ?? []) if (changes !== listener.seen) listener.wake()
      }
    }
    this.#isLooking = false
  }
}

class Listener {
  readonly store: Store
  readonly close: () => void
  /** The number of the last change that its reader knows. */
  seen = 0
  #hasMoved = false
  #wake = () => {}

  constructor(store: Store, close: () => void) {
    this.store = store
    this.close = close
  }

  readonly wake = () => {
    this.#hasMoved = true
    this.#wake()
  }

  /** Before each reading: what comes later counts. */
  reset() {
    this.#hasMoved = false
  }

  /** Resolves when the store may have changed since `reset`, or after `wake`. */
  readonly moved = async (): Promise<void> => {
    if (this.#hasMoved) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }
}
