import { tracked } from '@trpc/server'
import { z } from 'zod'
import { hasExpired } from '../kernel/access.ts'
import { stillAllows } from '../kernel/authorize.ts'
import type { Call, Context } from '../kernel/context.ts'
import { stream } from '../kernel/endpoint.ts'
import { withError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import type { LongPollSlot } from '../kernel/long-poll-slot.ts'
import { clubStore } from '../kernel/policies.ts'
import type { Held } from '../kernel/shared-readings.ts'
import type { Listener } from '../kernel/store-watch.ts'
import { changeCursors } from '../storage/changes.ts'
import { collection, scope, toCollection } from '../storage/procedures.ts'
import type { Collection } from '../storage/statements.ts'
import type { StreamPage } from './stream-pages.ts'
import { streamPage } from './stream-pages.ts'

const SCOPE = 'svc.apps.storage:read'
const allows = stillAllows({ scope: SCOPE, policy: clubStore })

const cursor = z.string(withError('cursorInvalid')).max(500, withError('cursorInvalid'))

/** The input: a collection, and where to begin. */
export const followed = z.object({
  collection,
  scope,
  since: cursor.meta({ description: 'The `cursor` of the page before; omitted, all entries come first.' }).optional(),
  lastEventId: cursor
    .meta({
      description: 'Of server-sent events: the `id` of the last one, in place of `since`.',
    })
    .optional(),
})

export type Item = { key: string; updatedAt: number } & ({ value: Json; etag: string } | { deleted: true })

export const watch = stream(SCOPE, clubStore, {
  summary: 'The entries of a collection, then its changes as they happen',
  fails: ['scopeOrgOnly', 'cursorInvalid', 'cursorExpired', 'waitsLimited'],
})
  .input(followed)
  .subscription(async ({ ctx, input: { since, lastEventId, ...of }, signal }) => {
    const { core, call } = ctx
    const at = toCollection(ctx, of)
    const cursors = changeCursors(core.cipher, at, ctx)
    const from = lastEventId || since
    const hold = await call.hold()
    if (signal?.aborted) hold.end()
    signal?.addEventListener('abort', () => hold.end())
    const listener = core.watch.listen(at)
    try {
      // Before the answer begins, so that a cursor which has expired is refused.
      const since = from === undefined ? undefined : cursors.readPosition(from)
      const first = await streamPage(ctx, at, { since, more: false, round: listener.round })
      // Also where nobody ever asks for an event.
      const leave = () => {
        listener.wake()
        listener.close()
        first.release()
      }
      hold.onEnd(leave)
      call.deadline?.lift()
      // Not the step's context, which keeps more: 0.3 KB.
      const events = follow({ core, call }, { at, cursors, from: since?.number, first, hold, listener })
      return Object.assign(events, { position: positionReader(cursors, listener) })
    } catch (error) {
      listener.close()
      hold.release()
      throw error
    }
  })

type Cursors = ReturnType<typeof changeCursors>

interface Following {
  at: Collection
  cursors: Cursors
  /** The number of the id that the client has; undefined without one: it begins again with the entries. */
  from: number | undefined
  first: Held<StreamPage>
  hold: LongPollSlot
  listener: Listener
}

/**
 * Reads the id of the position of a stream at rest, where changes beside its collection have moved it since the last id. A client
 * that keeps it goes on after 30 days without an event. In a scope of its own, as a stream keeps it.
 */
const positionReader = (cursors: Cursors, listener: Listener) => (): string | undefined => {
  if (!(listener.seen > listener.sent)) return undefined
  listener.sent = listener.seen
  return cursors.of({ number: listener.seen })
}

interface Sending {
  call: Call
  cursors: Cursors
  check: () => void
}

/**
 * Throws an AbortError when the hold, the token or the access ends: tRPC's clients reconnect after it, and not after a return.
 * Nothing is read before the last page has left: who does not read falls behind, and goes on where it has stopped.
 */
async function* follow(ctx: Context, { at, cursors, from, first, hold, listener }: Following) {
  const { core, call } = ctx
  const { principal } = call
  const stopWatching = core.accessWatch.add({
    principal,
    allows: (access) => allows(principal, access),
    end: () => hold.end(),
  })
  const check = () => {
    if (hasExpired(principal, core.now())) hold.end()
    if (hold.isOver) throw new DOMException('This operation was aborted', 'AbortError')
  }
  let held = first
  let sent = from ?? Number.NaN
  try {
    for (;;) {
      check()
      const { next, more } = held.page
      if (held.page.events.length > 0) sent = next.number
      yield* send(held.page, { call, cursors, check })
      held.release()
      listener.seen = next.number
      if (!more) {
        listener.sent = sent
        await listener.moved()
        sent = listener.sent
        listener.sent = Number.NaN
      }
      check()
      listener.reset()
      const since = more ? next : { number: Math.max(next.number, listener.seen) }
      held = await streamPage(ctx, at, { since, more, round: listener.round })
    }
  } finally {
    held.release()
    stopWatching()
    listener.close()
    hold.release()
  }
}

/** A generator of its own: one that rests keeps its variables, which may be megabytes. */
async function* send({ events, next }: StreamPage, { call, cursors, check }: Sending) {
  for (const [i, { text, at: position }] of events.entries()) {
    yield event(cursors.of(i + 1 === events.length ? next : position), call.line(text))
    check()
  }
}

/** A caller in this process gets what tRPC's types promise, too: `tracked` alone is a tuple. */
const event = (id: string, data: Item) => Object.assign(tracked(id, data), { id, data })
