import type { Database } from '../prisma/client.ts'
import type { TimeLimits } from '../prisma/time-limits.ts'
import { productionLimits } from '../prisma/time-limits.ts'
import { appRouter } from './index.ts'
import type { Principal } from './kernel/access.ts'
import { accessLookup } from './kernel/access.ts'
import { AccessWatch } from './kernel/access-watch.ts'
import type { Cipher } from './kernel/cipher.ts'
import type { Call, Core } from './kernel/context.ts'
import { DueWatch } from './kernel/due-watch.ts'
import { LongPollSlot } from './kernel/long-poll-slot.ts'
import { serialiseValue } from './kernel/raw-json/text.ts'
import { SharedReadings } from './kernel/shared-readings.ts'
import { StoreWatch } from './kernel/store-watch.ts'
import type { TeamSignup } from './kernel/team-signup.ts'
import { createCallerFactory } from './kernel/trpc.ts'
import { eventNumbers } from './webhooks/feed/read.ts'

interface Settings {
  db: Database
  cipher: Cipher
  brand: string
  authBaseUrl?: string | undefined
  storageQuotaBytes: number
  /** By default closed. */
  teamSignup?: TeamSignup | undefined
  now: () => number
  /** By default `now`. */
  steady?: (() => number) | undefined
  timeLimits?: TimeLimits
  published?: Core['published']
  removed?: Core['removed']
}

export function createCore(settings: Settings): Core {
  const { db, now, steady = now } = settings
  const eventWatch = new StoreWatch(db, undefined, eventNumbers)
  const due = new DueWatch()
  return {
    timeLimits: productionLimits,
    removed: () => {},
    ...settings,
    steady,
    teamSignup: settings.teamSignup ?? 'closed',
    findAccess: accessLookup(db, now, steady),
    accessWatch: new AccessWatch(db, now, steady),
    watch: new StoreWatch(db),
    eventWatch,
    due,
    readings: new SharedReadings(),
    published(event) {
      eventWatch.wake({ app: event.app, club: '' })
      if (event.deliveries.length > 0) due.wake()
      settings.published?.(event)
    },
  }
}

const createCaller = createCallerFactory(appRouter)

/** In process there is no rate limit, no response headers, and no reserved memory. */
const inProcess: Omit<Call, 'principal'> = {
  consumeQuota: async () => {},
  setHeader: () => {},
  reserve: async () => {},
  reserveShared: async () => ({ shrinkTo: () => {} }),
  hold: async () => new LongPollSlot(),
  json: (pieces) => JSON.parse(pieces.join('')),
  line: (text) => JSON.parse(text.toString()),
  text: serialiseValue,
  minBytes: () => 0,
  typed: true,
}

interface CallOptions {
  /** Counts the calls of people who work on apps. */
  countPeople?: Call['countPeople']
  /** Ends streams. */
  signal?: AbortSignal | undefined
}

/** Calls procedures in this process, e.g. `callAs(core, principal).me.profile()`, with the same checks but no token. */
export const callAs = (core: Core, principal: Principal, { countPeople, signal }: CallOptions = {}) =>
  createCaller({ core, call: { ...inProcess, principal, countPeople } }, signal ? { signal } : {})
