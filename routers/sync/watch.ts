import { tracked } from '@trpc/server'
import { z } from 'zod'
import { hasExpired } from '../kernel/access.ts'
import { stillAllows } from '../kernel/authorize.ts'
import type { Call, Context, Hold } from '../kernel/context.ts'
import { stream } from '../kernel/endpoint.ts'
import { withError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import { clubStore } from '../kernel/policies.ts'
import type { ChangeAt, ChangePage, Position } from '../storage/changes.ts'
import { readChanges } from '../storage/changes.ts'
import { cursorOf, positionOf } from '../storage/cursor.ts'
import { collection, collectionOf, scope } from '../storage/procedures.ts'
import type { Collection } from '../storage/statements.ts'

const SCOPE = 'svc.apps.storage:read'
const allows = stillAllows({ scope: SCOPE, policy: clubStore })

/** Changes that are read at once. */
const PAGE = 100

const cursor = z.string(withError('cursorInvalid')).max(500, withError('cursorInvalid')).default('')

/** The input: a collection, and where to begin. */
export const followed = z.object({
  collection,
  scope,
  since: cursor.meta({
    description: 'The `cursor` of the page before; empty or omitted, all entries come first.',
    examples: [''],
  }),
  lastEventId: cursor.meta({
    description: 'Of server-sent events: the `id` of the last one, in place of `since`.',
    examples: [''],
  }),
})

export type Item = { key: string; updatedAt: number } & ({ value: Json; etag: string } | { deleted: true })

export const watch = stream(SCOPE, clubStore, {
  summary: 'The entries of a collection, then its changes as they happen',
  fails: ['scopeOrgOnly', 'cursorInvalid', 'cursorExpired', 'waitsLimited'],
})
  .input(followed)
  .subscription(async ({ ctx, input: { since, lastEventId, ...of }, signal }) => {
    const { core, call } = ctx
    const at = collectionOf(ctx, of)
    const from = lastEventId || since
    const hold = await call.hold()
    if (signal?.aborted) hold.end()
    signal?.addEventListener('abort', hold.end)
    const listener = core.watch.listen(at)
    // Also where nobody ever asks for an event.
    hold.ended.addEventListener('abort', () => {
      listener.wake()
      listener.close()
    })
    try {
      // Before the answer begins, so that a cursor which has expired is refused.
      const first = await pageAfter(ctx, at, from === '' ? undefined : positionOf(core.cipher, at, from))
      call.deadline?.lift()
      return follow(ctx, { at, first, hold, listener })
    } catch (error) {
      listener.close()
      hold.release()
      throw error
    }
  })

interface Following {
  at: Collection
  first: ChangePage
  hold: Hold
  listener: ReturnType<Context['core']['watch']['listen']>
}

/**
 * Throws an AbortError when the hold, the token or the access ends: tRPC's clients reconnect after it, and not after a return.
 * Nothing is read before the last page has left.
 */
async function* follow(ctx: Context, { at, first, hold, listener }: Following) {
  const { core, call } = ctx
  const { principal } = call
  const place = [at.app, at.club, at.owner, at.collection].join('\0')
  const stopWatching = core.accessWatch.add({
    principal,
    allows: (access) => allows(principal, access),
    end: hold.end,
  })
  const check = () => {
    if (hasExpired(principal, core.now())) hold.end()
    hold.ended.throwIfAborted()
  }
  try {
    let page = first
    for (;;) {
      check()
      const { changes, next, more } = page
      for (const [i, change] of changes.entries()) {
        const position = i + 1 === changes.length ? next : change.at
        yield event(cursorOf(core.cipher, at, position), itemOf(call, change))
        check()
      }
      call.release()
      listener.seen = next.number
      if (!more) await listener.moved()
      check()
      listener.reset()
      const key = `${place}\0${next.number}\0${next.after ?? ''}`
      page = await core.watch.together(key, () => pageAfter(ctx, at, next))
    }
  } finally {
    stopWatching()
    listener.close()
    hold.release()
  }
}

const pageAfter = ({ core, call }: Context, at: Collection, since: Position | undefined) =>
  readChanges(core.db, at, { since, limit: PAGE }, call.reserve)

/** A caller in this process gets what tRPC's types promise, too: `tracked` alone is a tuple. */
const event = (id: string, data: Item) => Object.assign(tracked(id, data), { id, data })

function itemOf(call: Call, { key, value, updatedAt, version }: ChangeAt): Item {
  if (value === null) return { key, updatedAt, deleted: true }
  return { key, value: call.json([value]), updatedAt, etag: `"${version}"` }
}
