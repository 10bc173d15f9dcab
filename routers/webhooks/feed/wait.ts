import { authorizer } from '../../kernel/authorize.ts'
import type { Context } from '../../kernel/context.ts'
import { errors } from '../../kernel/errors.ts'
import { providerApp } from '../../kernel/policies.ts'
import type { EventPage } from './read.ts'
import { readEvents } from './read.ts'

interface Wanted {
  since: number | undefined
  limit: number
  /** How long to wait for the first event; 0 not to wait. */
  seconds: number
}

const authorize = authorizer({ scope: 'ntf.apps.webhook:update', policy: providerApp })

/** A caller that has lost access meanwhile is refused. The request was counted when it came. */
const checkAgain = ({ core, call }: Context) => authorize({ core, call: { ...call, consumeQuota: async () => {} } })

/** A page of events; if there are none yet, the first of them, or an empty page after `seconds`. Throws as readEvents does. */
export async function readOrWait(ctx: Context, app: string, { since, limit, seconds }: Wanted): Promise<EventPage> {
  const { core, call } = ctx
  const read = () => readEvents(core.db, app, { since, limit }, call.reserve)
  if (seconds === 0) return read()
  const over = AbortSignal.timeout(seconds * 1_000)
  const listener = core.eventWatch.listen({ app, club: '' })
  try {
    for (;;) {
      listener.reset()
      const page = await read()
      if (page.events.length > 0 || page.more || over.aborted) return page
      listener.seen = page.next
      const goesOn = await call.hold((ended) => listener.moved(AbortSignal.any([ended, over])))
      if (!goesOn) return page
      const { suspended } = await checkAgain(ctx)
      if (suspended) throw errors.appSuspended()
    }
  } finally {
    listener.close()
  }
}
