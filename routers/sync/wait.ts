import { authorizer } from '../kernel/authorize.ts'
import type { Context } from '../kernel/context.ts'
import { clubApp } from '../kernel/policies.ts'
import type { ChangePage, Position } from '../storage/changes.ts'
import { readChanges } from '../storage/changes.ts'
import type { Collection } from '../storage/statements.ts'

interface Wanted {
  since: Position | undefined
  limit: number
  /** How long to wait for the first change; 0 not to wait. */
  seconds: number
}

const authorize = authorizer({ scope: 'svc.apps.storage:read', policy: clubApp })

/** A caller that has lost access meanwhile is refused. The request was counted when it came. */
const checkAgain = ({ core, call }: Context) => authorize({ core, call: { ...call, consumeQuota: async () => {} } })

/** A page of changes; if there are none yet, the first of them, or an empty page after `seconds`. Throws as readChanges does. */
export async function readOrWait(ctx: Context, of: Collection, { since, limit, seconds }: Wanted): Promise<ChangePage> {
  const { core, call } = ctx
  const read = (from: Position | undefined) => readChanges(core.db, of, { since: from, limit }, call.reserve)
  if (seconds === 0) return read(since)
  const over = AbortSignal.timeout(seconds * 1_000)
  const listener = core.watch.listen(of)
  try {
    for (let from = since; ; ) {
      listener.reset()
      const page = await read(from)
      if (page.changes.length > 0 || page.more || over.aborted) return page
      from = page.next
      listener.seen = from.number
      const goesOn = await call.hold((ended) => listener.moved(AbortSignal.any([ended, over])))
      if (!goesOn) return page
      await checkAgain(ctx)
    }
  } finally {
    listener.close()
  }
}
