import type { Body } from '../../rest-facade/body.ts'
import type { Caller } from '../../rest-facade/facade.ts'
import type { Access, Principal } from '../../routers/kernel/access.ts'
import { readBytes } from './body-bytes.ts'
import type { LongPollSlots } from './long-poll-slots.ts'
import type { MemoryBudget, Use } from './memory-budget.ts'
import { SMALL_RESPONSE_BYTES } from './memory-budget.ts'
import { Lease, reserveShared } from './memory-lease.ts'
import type { ConsumeQuota } from './rate-limit.ts'
import type { StepContext } from './state.ts'

export interface CallParts {
  consumeQuota: ConsumeQuota
  memory: MemoryBudget
  longPollSlots: LongPollSlots
}

/** What a request provides for its call: the caller, the body, and memory for both. */
export function openCall(
  { req, res, state }: StepContext,
  principal: Principal,
  { consumeQuota, memory, longPollSlots }: CallParts,
) {
  const setHeader = (name: string, value: string) => void state.headers.push(name, value)
  let team: string | null = null
  let app: string | null = null
  // Most requests are small and never need one.
  let lease: Lease | undefined
  const reserve = (bytes: number, use: Use) => {
    lease ??= new Lease(memory, res, team)
    return lease.reserve(bytes, use)
  }
  const body: Body = {
    headers: req.headers,
    read: (limit, tooLarge, use) => readBytes(req, limit, tooLarge, (bytes) => reserve(bytes, use)),
  }
  const caller: Caller = {
    principal,
    consumeQuota(access: Access) {
      ;({ team, app } = access)
      return consumeQuota(access, { client: principal.client, response: res, setHeader })
    },
    setHeader,
    reserve: (bytes) => reserve(bytes, 'response'),
    reserveShared: (bytes) => reserveShared(memory, team, bytes),
    async hold() {
      consumeQuota.waits(res)
      return longPollSlots.hold({ team, app, member: principal.member }, res)
    },
  }
  return {
    body,
    caller,
    reserve,
    /** The call has ended; its response has `length` bytes, 0 if it has failed. Throws 503. */
    rendered(length: number) {
      lease?.rendered(length)
      if (length > SMALL_RESPONSE_BYTES && !lease) new Lease(memory, res, team).hold(length)
    },
  }
}
