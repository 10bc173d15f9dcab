import type { ServerResponse } from 'node:http'
import type { Counted } from '../../routers/kernel/context.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { retryAfterSeconds } from '../../routers/kernel/time.ts'
import type { Limits } from '../limits/limit.ts'
import type { ShareOptions } from './concurrency-limit.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'

const WINDOW_SECONDS = 60

/** Calls of `developer.*` per minute, of a person and of a team. A portal page makes one to four. */
const CALLS = { person: 600, team: 2_400 }

/** Logos per minute: decoding one takes up to 0.4 s of CPU. */
const PICTURES = 10

/** Concurrent requests. A person gets fewer, and so cannot block the team's others. */
const places: Record<keyof typeof CALLS, Omit<ShareOptions, 'waitMs'>> = {
  person: { atOnce: 4, waiting: 32 },
  team: { atOnce: 12, waiting: 64 },
}
const WAIT_MS = 2_000

/** Counts the calls of people who work on apps, and of their teams. Throws 429, and 503 for too many concurrent ones. */
export type PeopleLimit = (of: Counted, id: string, response: ServerResponse) => Promise<void>

export function peopleLimit(limits: Limits, waitMs = WAIT_MS): PeopleLimit {
  const counting = (of: Counted) => {
    const limit = limits.open(`developer-${of}`, of === 'picture' ? PICTURES : CALLS[of], WINDOW_SECONDS)
    const shares = of === 'picture' ? null : new ConcurrencyLimit({ ...places[of], waitMs })
    return async (id: string, response: ServerResponse) => {
      const { passes, msBeforeNext } = await limit.take(id)
      if (!passes) throw errors.peopleLimited(Math.min(WINDOW_SECONDS, retryAfterSeconds(msBeforeNext)))
      await shares?.enter(id, response)
    }
  }
  const count = { person: counting('person'), team: counting('team'), picture: counting('picture') }
  return (of, id, response) => count[of](id, response)
}
