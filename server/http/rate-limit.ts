import type { ServerResponse } from 'node:http'
import { REQUESTS_A_MINUTE } from '../../routers/developer/activity/usage.ts'
import type { Access } from '../../routers/kernel/access.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { retryAfterSeconds } from '../../routers/kernel/time.ts'
import type { Limits } from '../limits/limit.ts'
import { sandboxConcurrency } from './concurrency-limit.ts'

const WINDOW_SECONDS = 60

interface Request {
  client: string
  response: ServerResponse
  setHeader: (name: string, value: string) => void
}

export interface ConsumeQuota {
  (access: Access, request: Request): Promise<void>
  /** The request waits for changes from now on: other limits apply. */
  waits: (response: ServerResponse) => void
}

/**
 * One count per team, over all its clients, tokens and sections; first-party clients are not counted. The window starts with the
 * team's first request. Throws 429. Sandbox clients instead have a fair share of the process, and get 503.
 */
export function rateLimit(
  limits: Limits,
  refused: (level: keyof typeof REQUESTS_A_MINUTE) => void = () => {},
  shares = sandboxConcurrency(),
): ConsumeQuota {
  const limitByLevel = {
    hobby: limits.open('hobby', REQUESTS_A_MINUTE.hobby, WINDOW_SECONDS),
    developer: limits.open('developer', REQUESTS_A_MINUTE.developer, WINDOW_SECONDS),
  }
  const consume = async ({ team, level, sandbox }: Access, { client, response, setHeader }: Request) => {
    if (team === null) return
    if (sandbox) return shares.enter(client, response)
    const { passes, remaining, msBeforeNext } = await limitByLevel[level].take(team)
    const resetSeconds = Math.min(WINDOW_SECONDS, retryAfterSeconds(msBeforeNext))
    setHeader('RateLimit-Policy', `"team";q=${REQUESTS_A_MINUTE[level]};w=${WINDOW_SECONDS}`)
    setHeader('RateLimit', `"team";r=${remaining};t=${resetSeconds}`)
    if (passes) return
    refused(level)
    throw errors.rateLimited(resetSeconds)
  }
  return Object.assign(consume, { waits: (response: ServerResponse) => shares.leave(response) })
}
