import type { TRPCError } from '@trpc/server'
import type { Principal } from '../../routers/kernel/access.ts'
import type { Context, Core } from '../../routers/kernel/context.ts'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import { Placeholders } from '../../routers/kernel/raw-json/placeholders.ts'
import type { LongPollSlots } from '../http/long-poll-slots.ts'
import type { MemoryBudget, Use } from '../http/memory-budget.ts'
import { Lease, reserveShared } from '../http/memory-lease.ts'
import type { PeopleLimit } from '../http/people-limit.ts'
import type { ConsumeQuota } from '../http/rate-limit.ts'
import type { StepContext } from '../http/state.ts'
import { MIN_DOWNLOAD } from '../http/transfer-rate.ts'

export interface TrpcParts {
  core: Core
  consumeQuota: ConsumeQuota
  countPeople: PeopleLimit
  memory: MemoryBudget
  longPollSlots: LongPollSlots
}

export type CallContext = ReturnType<typeof callContext>

/** Shared by a request's calls: context, memory, and the texts that are not parsed in either direction. */
export function callContext(
  { core, consumeQuota, countPeople, memory, longPollSlots }: TrpcParts,
  ctx: StepContext,
  streamed: boolean,
) {
  const placeholders = new Placeholders(streamed)
  const deadline = new Deadline(core.timeLimits.requestMs)
  let lease: Lease | undefined
  const open = (team: string | null) => {
    const opened = new Lease(memory, ctx.res, team)
    // Also for a stream, which is rendered while it is sent.
    ctx.res.once('close', () => opened.rendered(0))
    return opened
  }
  const requireAccess = async (principal: Principal) => {
    const access = await core.findAccess(principal)
    if (!access) throw errors.tokenInvalid()
    return access
  }
  const reserve = async (principal: Principal, bytes: number, use: Use) => {
    const { team } = await requireAccess(principal)
    lease ??= open(team)
    await lease.reserve(bytes, use)
    // A response that is not streamed is watched while it is sent.
    if (streamed) ctx.res.setTimeout(MIN_DOWNLOAD.graceMs)
  }
  const shared = async (principal: Principal, bytes: number) =>
    reserveShared(memory, (await requireAccess(principal)).team, bytes)
  const hold = async (principal: Principal) => {
    const access = await requireAccess(principal)
    consumeQuota.waits(ctx.res)
    return longPollSlots.hold({ ...access, member: principal.member }, ctx.res)
  }
  const setHeader = (name: string, value: string) => ctx.set(name, value)
  return {
    deadline,
    placeholders,
    reserve,
    createContext: (principal: Principal): Context => ({
      core,
      call: {
        principal,
        deadline,
        consumeQuota: (access) => consumeQuota(access, { client: principal.client, response: ctx.res, setHeader }),
        hold: () => hold(principal),
        countPeople: (of, id) => countPeople(of, id, ctx.res),
        json: placeholders.insert,
        line: placeholders.insertLine,
        text: placeholders.toText,
        minBytes: placeholders.readMinBytes,
        typed: true,
        reserve: (bytes) => deadline.without(() => reserve(principal, bytes, 'response')),
        reserveShared: (bytes) => deadline.without(() => shared(principal, bytes)),
        setHeader,
      },
    }),
    /** The response to send in place of `json`; every call has returned. */
    async render(json: string) {
      const body = await placeholders.render(json)
      lease?.rendered(body.length)
      return body
    },
  }
}

/** For the log. */
export function keepCause(ctx: StepContext, error: TRPCError) {
  if (error instanceof ApiError && error.status >= 500) ctx.state.cause = error.cause
}
