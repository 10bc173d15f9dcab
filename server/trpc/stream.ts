import type { Positioned } from '../../rest-facade/facade.ts'
import { rendered } from '../../rest-facade/facade.ts'
import { readLastEventId } from '../../rest-facade/last-event-id.ts'
import type { Context } from '../../routers/kernel/context.ts'
import { toFailure } from '../../routers/kernel/database-errors.ts'
import type { Placeholders } from '../../routers/kernel/raw-json/placeholders.ts'
import { sendEvents } from '../http/event-stream.ts'
import type { StepContext } from '../http/state.ts'
import type { ReadInput, Reply, SingleCall } from './call.ts'
import { errorShape, run, toRefusal } from './call.ts'

/**
 * Sends the events of a subscription as tRPC's adapter does for `httpSubscriptionLink`, without the copy of each event that it
 * makes for each reader: a value of 10 MB would be 1 GB for 100 of them. Resolves to the reply where the call is refused, as an
 * error of its own status: the adapter answers 200.
 */
export async function streamTo(
  ctx: StepContext,
  call: SingleCall,
  readInput: ReadInput,
  context: Context,
  placeholders: Placeholders,
): Promise<Reply | undefined> {
  try {
    const data = await run(call, readInput, context, readLastEventId(ctx.req.headers, ctx.state.search))
    const events = rendered(data as Positioned<{ id: string; data: unknown }>, placeholders)
    sendEvents(ctx, events, { protocol: buildProtocol(call) })
  } catch (thrown) {
    return toRefusal(call, thrown)
  }
}

const formatEvent = (name: string, data: string) => `event: ${name}\ndata: ${data}\n\n`

/** The client ends its subscription at `return`, and at errors that it does not take for passing ones; else it connects again. */
export const buildProtocol = (call: SingleCall) => ({
  begin: formatEvent('connected', '{}'),
  // tRPC's client tells no application of a ping, and its EventSource keeps the id.
  idle: (position?: string) => (position === undefined ? '' : `id: ${position}\n`) + formatEvent('ping', ''),
  end: (failure?: unknown) => {
    if (failure === undefined) return formatEvent('return', '')
    if (failure instanceof Error && failure.name === 'AbortError') return ''
    return formatEvent('serialized-error', JSON.stringify(errorShape(call, toFailure(failure))))
  },
})
