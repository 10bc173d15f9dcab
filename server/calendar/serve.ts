import { readCalendar } from '../../routers/calendar/events.ts'
import { findFeed } from '../../routers/calendar/feeds.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { ClientAddress } from '../http/client-address.ts'
import { toNetwork } from '../http/client-address.ts'
import { normalizeHost } from '../http/host-name.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import { SMALL_RESPONSE_BYTES } from '../http/memory-budget.ts'
import { Lease } from '../http/memory-lease.ts'
import { computeTag, isRevalidated } from '../http/revalidation.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import { requestLimit } from '../limits/limit.ts'
import { renderCalendar } from './icalendar.ts'

/**
 * Per minute. Programs ask every 15 minutes at most; the services of Google and Microsoft ask from few addresses for many
 * members.
 */
export const MAX_OF_FEED = 60
export const MAX_OF_ADDRESS = 3_000
/** Secrets that fit no feed. Those that do are answered as long as the address makes fewer than the above. */
export const MAX_UNKNOWN = 100

interface Options {
  core: Core
  memory: MemoryBudget
  limits: Limits
  readClientAddress: ClientAddress
  authBaseUrl: string
}

/** Serves a member's events to calendar programs, at the host of sign-in: the address's secret is all that they have. */
export function calendarFeeds({ core, memory, limits, readClientAddress, authBaseUrl }: Options): Step {
  const { host, pathname } = new URL(authBaseUrl)
  const below = `${pathname === '/' ? '' : pathname}/calendar/`
  const isWithin = {
    feed: requestLimit(limits, 'calendar-feeds', MAX_OF_FEED),
    address: requestLimit(limits, 'calendar-addresses', MAX_OF_ADDRESS),
    unknown: requestLimit(limits, 'calendar-unknown', MAX_UNKNOWN),
  }
  const respond = async (ctx: StepContext) => {
    const network = toNetwork(readClientAddress(ctx.req))
    if (!(await isWithin.address(network))) throw errors.peopleLimited(60)
    const name = ctx.state.path.slice(below.length)
    const secret = name.endsWith('.ics') ? name.slice(0, -4) : ''
    const now = core.now()
    const feed = await findFeed(core.db, secret, now)
    if (!feed) {
      if (!(await isWithin.unknown(network))) throw errors.peopleLimited(60)
      throw errors.addressUnknown()
    }
    if (!(await isWithin.feed(computeTag(secret)))) throw errors.peopleLimited(60)
    const events = await readCalendar(core.db, feed, now)
    ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' })
    if (isRevalidated(ctx, `"${computeTag(JSON.stringify([feed.name, feed.timeZone, events]))}"`, 'private, no-cache'))
      return
    ctx.type = 'text/calendar; charset=utf-8'
    const text = await renderCalendar(events, { feed, host })
    if (text.length > SMALL_RESPONSE_BYTES) new Lease(memory, ctx.res, `address ${network}`).hold(text.length)
    ctx.body = text
  }

  return (ctx, next) => {
    const { state, method } = ctx
    if (!state.path.startsWith(below)) return next()
    state.operation = 'calendar'
    state.address = '/calendar/{secret}.ics'
    if (normalizeHost(state.host) !== normalizeHost(host)) throw errors.hostWrong(host)
    if (method !== 'GET' && method !== 'HEAD') throw errors.methodWrong('GET, HEAD')
    return new Deadline(core.timeLimits.requestMs).bound(respond(ctx))
  }
}
