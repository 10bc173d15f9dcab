import type { Database } from '../../prisma/client.ts'
import type { Holder } from '../../prisma/pg/connection-shares.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import type { Access, AccessLookup, Principal } from './access.ts'
import type { AccessWatch } from './access-watch.ts'
import type { CardCodes } from './card-codes.ts'
import type { Cipher } from './cipher.ts'
import type { Deadline } from './deadline.ts'
import type { DueWatch } from './due-watch.ts'
import type { LongPollSlot } from './long-poll-slot.ts'
import type { JsonText } from './raw-json/text.ts'
import type { Removal } from './removal.ts'
import type { SharedReadings } from './shared-readings.ts'
import type { StoreWatch } from './store-watch.ts'
import type { TeamSignup } from './team-signup.ts'

export interface Published {
  app: string
  event: string
  deliveries: readonly string[]
}

/** Shared by all calls of a process. */
export interface Core {
  db: Database
  /** Unix time in milliseconds. */
  now: () => number
  /** Milliseconds of a clock that is never set back: for how much time has passed. */
  steady: () => number
  findAccess: AccessLookup
  cipher: Cipher
  /** Set where members sign in at this service, once its keys are read. */
  cards?: CardCodes
  /** Fills `This client is not a … app.` */
  brand: string
  /** Where members sign in; undefined where another issuer does that. */
  authBaseUrl?: string | undefined
  storageQuotaBytes: number
  teamSignup: TeamSignup
  timeLimits: TimeLimits
  /** Ends streams and waits of callers who have lost access. */
  accessWatch: AccessWatch
  /** Wakes calls that wait for a change of a store. */
  watch: StoreWatch
  /** Wakes calls that wait for an event of an app; as a store, it has no club. */
  eventWatch: StoreWatch
  /** What streams and waiting calls read together. */
  readings: SharedReadings
  /** Wakes webhook workers after a transaction that makes a delivery due, or changes what apps hear of a member. */
  due: DueWatch
  /** Called after each event is published. */
  published: (event: Published) => void
  /** Called for the log after each removal that must outlive a restore; `more` has numbers about it. */
  removed: (removal: Removal, more?: object) => void
}

/** Counters for calls of people who work on apps. */
export type Counted = 'person' | 'team' | 'picture'

/** Memory that several calls share, until it is given back: `shrinkTo(0)`. */
export interface SharedMemory {
  shrinkTo: (bytes: number) => void
}

/** One procedure call: its principal, and the operations that its transport (REST, tRPC, this process) provides. */
export interface Call {
  principal: Principal
  /** The request's deadline; a call in this process has none. */
  deadline?: Deadline
  /** The team whose share of the database's connections it uses; undefined until it is authorized. */
  team?: Holder
  /** Counts this call against its team's rate limit; throws 429. */
  consumeQuota: (access: Access) => Promise<void>
  /**
   * Counts this call against the limits for a person who works on apps, their team, or its pictures; throws 429 and 503.
   * Undefined for a call in this process.
   */
  countPeople?: ((of: Counted, id: string) => Promise<void>) | undefined
  /** Turns JSON text, given in pieces, into a value of the result: a placeholder over HTTP, parsed in this process. */
  // biome-ignore lint/suspicious/noExplicitAny: as JSON.parse has it
  json: (pieces: readonly JsonText[]) => any
  /** The same for a text that is on one line already, in one piece, which is sent as it is. */
  // biome-ignore lint/suspicious/noExplicitAny: as JSON.parse has it
  line: (text: JsonText) => any
  /** The JSON text of an input value: as received over HTTP, serialised in this process. Throws 400. */
  text: (value: unknown) => Promise<JsonText>
  /** A lower bound of the bytes of an input value whose body has not been read; 0 if unknown. */
  minBytes: (value: unknown) => number
  /** Whether list items carry their ETag: over tRPC and in this process, not over REST. */
  typed: boolean
  /** Reserves memory for a response of `bytes`, until it is sent; throws 503. */
  reserve: (bytes: number) => Promise<void>
  /** Reserves memory for a response of `bytes` that other calls of its team send as well; throws 503. */
  reserveShared: (bytes: number) => Promise<SharedMemory>
  /** A call that waits or streams takes a place first. Throws 429 where too many do. */
  hold: () => Promise<LongPollSlot>
  /** Sets a response header; in this process there are none. */
  setHeader: (name: string, value: string) => void
}

/** Two keys only, as every step of a procedure copies the context: 38 us per call with seventeen keys, 8 with two. */
export interface Context {
  core: Core
  call: Call
}
