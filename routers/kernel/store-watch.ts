import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { int, statement, texts } from '../../prisma/pg/statement.ts'

export interface Store {
  app: string
  club: string
}

/** A collection of a store: shared, or a member's own. An app's events are one of the empty names. */
export interface Place extends Store {
  owner: string
  collection: string
}

export interface Numbers {
  /** The place, from 1. */
  at: number
  /** The number of the last change of its store; 0 if nothing is stored. */
  changes: number
  /** That of the last change in the place itself. */
  last: number
}

/** Between two looks at the watched places: for writes by other hands, and of nodes that do not notify this one. */
const LOOKS_MS = { notified: 5_000, alone: 1_000 }

const storeNumbers = statement(
  'storage_numbers',
  `SELECT at::int4, coalesce(changes, 0) AS changes,
      coalesce((SELECT max(number) FROM "StorageChange" change WHERE change."appId" = app AND change."clubId" = club
        AND change.owner = place.owner AND change.collection = place.collection), 0) AS last
    FROM unnest($apps::text[], $clubs::text[], $owners::text[], $collections::text[]) WITH ORDINALITY AS place (app, club, owner, collection, at)
      LEFT JOIN "StorageUsage" ON "StorageUsage"."appId" = app AND "StorageUsage"."clubId" = club`,
  { apps: texts, clubs: texts, owners: texts, collections: texts },
  { at: int, changes: int, last: int },
)

/** The watched places, field by field. */
interface Places {
  apps: string[]
  clubs: string[]
  owners: string[]
  collections: string[]
}

interface Watched {
  place: Place
  listeners: Set<Listener>
  /** A reading that began before the round may lack a change. */
  round: number
}

const toStoreKey = ({ app, club }: Store) => `${app}\0${club}`
const toPlaceKey = ({ owner, collection }: Place) => `${owner}\0${collection}`

/** Reports to readers of a place that it has changed: at once after a write of this process, else within a second. */
export class StoreWatch {
  readonly #db: Database
  readonly #looksMs: typeof LOOKS_MS
  readonly #numbers: Statement<Places, Numbers>
  readonly #stores = new Map<string, Map<string, Watched>>()
  #round = 0
  #isLooking = false
  #isNotified = false
  #sooner = new AbortController()

  /** `numbers` returns those of the watched places. */
  constructor(db: Database, looksMs = LOOKS_MS, numbers: Statement<Places, Numbers> = storeNumbers) {
    this.#db = db
    this.#looksMs = looksMs
    this.#numbers = numbers
  }

  /** Passes a change on to other nodes. */
  onWake: (changed: Store | Place) => void = () => {}

  get isNotified() {
    return this.#isNotified
  }

  /** Whether other nodes report their changes. Looks at once, as a report may have been lost. */
  set isNotified(isNotified: boolean) {
    this.#isNotified = isNotified
    this.#sooner.abort()
  }

  /** How many listeners there are. */
  get size() {
    let size = 0
    for (const { listeners } of this.#watched()) size += listeners.size
    return size
  }

  /** Until `close`. */
  listen(place: Place): Listener {
    const [store, name] = [toStoreKey(place), toPlaceKey(place)]
    const places = this.#stores.get(store) ?? new Map<string, Watched>()
    this.#stores.set(store, places)
    const watched = places.get(name) ?? { place, listeners: new Set(), round: ++this.#round }
    places.set(name, watched)
    const { listeners } = watched
    const listener = new Listener(watched, () => {
      // A second time, the names may be those of later listeners.
      if (!listeners.delete(listener) || listeners.size > 0) return
      places.delete(name)
      if (places.size === 0) this.#stores.delete(store)
    })
    listeners.add(listener)
    if (!this.#isLooking) void this.#look()
    return listener
  }

  /** This process has changed a place, or any of a store. */
  wake(changed: Store | Place) {
    this.wakeHere(changed)
    this.onWake(changed)
  }

  /** Another node has. */
  wakeHere(changed: Store | Place) {
    const places = this.#stores.get(toStoreKey(changed))
    if (!places) return
    const watched = 'collection' in changed ? [places.get(toPlaceKey(changed))] : places.values()
    for (const one of watched) if (one) this.#wake(one, () => true)
  }

  #wake(watched: Watched, isBehind: (listener: Listener) => boolean) {
    const behind = [...watched.listeners].filter(isBehind)
    if (behind.length > 0) watched.round = ++this.#round
    for (const listener of behind) listener.wake()
  }

  *#watched() {
    for (const places of this.#stores.values()) yield* places.values()
  }

  /** One statement for all places. It ends with the last listener. */
  async #look() {
    this.#isLooking = true
    for (;;) {
      this.#sooner = new AbortController()
      const ms = this.#isNotified ? this.#looksMs.notified : this.#looksMs.alone
      await pause(ms, undefined, { ref: false, signal: this.#sooner.signal }).catch(() => {})
      if (this.#stores.size === 0) break
      const all = [...this.#watched()]
      const values = {
        apps: all.map(({ place }) => place.app),
        clubs: all.map(({ place }) => place.club),
        owners: all.map(({ place }) => place.owner),
        collections: all.map(({ place }) => place.collection),
      }
      // An unreachable database is asked again at the next look.
      const rows = await this.#db.execute(this.#numbers, values).catch(() => [])
      for (const { at, changes, last } of rows) {
        this.#wake(all[at - 1]!, (listener) => !listener.keepsUp(last, changes))
      }
    }
    this.#isLooking = false
  }
}

export class Listener {
  readonly close: () => void
  /**
   * The place has no unread change up to this number: that of the last page, then that of the store at each look. So the reader of a
   * quiet collection does not fall behind the changes that are stored.
   */
  seen = 0
  /** While a stream rests: the number of the last id that its client has. NaN otherwise, which no number exceeds. */
  sent = Number.NaN
  readonly #watched: Watched
  #hasMoved = false
  #wake = () => {}

  constructor(watched: Watched, close: () => void) {
    this.#watched = watched
    this.close = close
  }

  /** Readers that ask in the same round may share a reading. */
  get round() {
    return this.#watched.round
  }

  readonly wake = () => {
    this.#hasMoved = true
    this.#wake()
  }

  /** False if there is something to read: a change, or the store is an older one or gone. */
  keepsUp(last: number, changes: number): boolean {
    if (last > this.seen || changes < this.seen) return false
    this.seen = changes
    return true
  }

  /** Before each reading: what comes later counts. */
  reset() {
    this.#hasMoved = false
  }

  /** Resolves when the place may have changed since `reset`, or after `wake`. */
  readonly moved = (): Promise<void> =>
    this.#hasMoved ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve))
}
