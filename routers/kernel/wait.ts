import { z } from 'zod'
import { hasExpired } from './access.ts'
import type { Guarded } from './authorize.ts'
import { authorizer, stillAllows } from './authorize.ts'
import type { Context } from './context.ts'
import { errors, withError } from './errors.ts'
import type { AccessPolicy } from './policies.ts'
import type { Listener } from './store-watch.ts'

/** Proxies close a connection without data after 60 s. */
const MAX_WAIT_SECONDS = 50

/** Every change of access takes effect within this time: on a busy node the watch may be late. */
const CHECK_MS = 5_000

/** The input of a call that may wait for `what`. */
export const waitFor = (what: string) =>
  z
    .int(withError('waitInvalid'))
    .min(0, withError('waitInvalid'))
    .max(MAX_WAIT_SECONDS, withError('waitInvalid'))
    .default(0)
    .meta({
      description: `Seconds to wait for ${what} if there is none yet, up to ${MAX_WAIT_SECONDS}.`,
      examples: [0],
    })

/** Refuses a caller that has lost access while the call waited. The request was counted when it came. */
export function reauthorize<Granted extends object>(row: Pick<Guarded, 'scope'> & { policy: AccessPolicy<Granted> }) {
  const authorize = authorizer(row)
  return {
    allows: stillAllows(row),
    checkAgain: ({ core, call }: Context) => authorize({ core, call: { ...call, consumeQuota: async () => {} } }),
  }
}

interface Waiting<Page> {
  /** 0 not to wait. */
  seconds: number
  listen: () => Listener
  /** `seen` is the number of the last change that the page knows. Of a later reading, `round` names those that may share it. */
  read: (round: number | undefined) => Promise<{ page: Page; isEmpty: boolean; seen: number }>
  allows: ReturnType<typeof stillAllows>
  /** Throws the refusal of a caller that `allows` no longer. */
  checkAgain: () => Promise<unknown>
}

/**
 * A page; if it is empty, the first that is not, or an empty one after `seconds`. Throws 401 once the token has expired, and the
 * refusal of a caller who has lost access, within 5 s.
 */
export async function readOrWait<Page>(context: Context, waiting: Waiting<Page>): Promise<Page> {
  if (waiting.seconds === 0) return (await waiting.read(undefined)).page
  const listener = waiting.listen()
  try {
    const page = await firstPage(context, waiting, listener)
    if (hasExpired(context.call.principal, context.core.now())) throw errors.tokenExpired()
    return page
  } finally {
    listener.close()
  }
}

async function firstPage<Page>({ core, call }: Context, waiting: Waiting<Page>, listener: Listener): Promise<Page> {
  const { seconds, read, allows, checkAgain } = waiting
  const { principal, deadline } = call
  const startedAt = core.steady()
  const over = AbortSignal.timeout(seconds * 1_000)
  let found = await read(undefined)
  if (!found.isEmpty) return found.page
  const hold = await call.hold()
  hold.onEnd(listener.wake)
  over.addEventListener('abort', listener.wake)
  if (over.aborted) listener.wake()
  let isRefused = false
  const stopWatching = core.accessWatch.add({
    principal,
    allows: (access) => allows(principal, access),
    end() {
      isRefused = true
      hold.end()
    },
  })
  try {
    for (;;) {
      listener.seen = found.seen
      await (deadline ? deadline.without(listener.moved) : listener.moved())
      deadline?.restart()
      const checkedAt = Math.max(startedAt, core.accessWatch.checkedAt)
      if (isRefused || core.steady() - checkedAt >= CHECK_MS) await checkAgain()
      if (hold.isOver) return found.page
      listener.reset()
      found = await read(listener.round)
      if (!found.isEmpty || over.aborted) return found.page
    }
  } finally {
    stopWatching()
    hold.release()
  }
}
