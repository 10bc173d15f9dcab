import { z } from 'zod'
import type { Guarded } from './authorize.ts'
import { authorizer } from './authorize.ts'
import type { Context } from './context.ts'
import { withError } from './errors.ts'
import type { AccessPolicy } from './policies.ts'
import type { StoreWatch } from './store-watch.ts'

/** Proxies close a connection without data after 60 s. */
const MAX_WAIT_SECONDS = 50

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
export function authorizerAgain<Granted extends object>(
  row: Pick<Guarded, 'scope'> & { policy: AccessPolicy<Granted> },
) {
  const authorize = authorizer(row)
  return ({ core, call }: Context) => authorize({ core, call: { ...call, consumeQuota: async () => {} } })
}

interface Waiting<Page> {
  /** 0 not to wait. */
  seconds: number
  listen: () => ReturnType<StoreWatch['listen']>
  /** `seen` is the number of the last change that the page knows. */
  read: () => Promise<{ page: Page; isEmpty: boolean; seen: number }>
  /** After each wait. */
  checkAgain: () => Promise<unknown>
}

/** A page; if it is empty, the first that is not, or an empty one after `seconds`. */
export async function readOrWait<Page>(
  { call }: Context,
  { seconds, listen, read, checkAgain }: Waiting<Page>,
): Promise<Page> {
  if (seconds === 0) return (await read()).page
  const over = AbortSignal.timeout(seconds * 1_000)
  const listener = listen()
  try {
    for (;;) {
      listener.reset()
      const { page, isEmpty, seen } = await read()
      if (!isEmpty || over.aborted) return page
      listener.seen = seen
      const hold = await call.hold()
      const woken = AbortSignal.any([hold.ended, over])
      woken.addEventListener('abort', listener.wake)
      if (woken.aborted) listener.wake()
      const waited = call.deadline ? call.deadline.without(listener.moved) : listener.moved()
      await waited.finally(hold.release)
      if (hold.ended.aborted) return page
      await checkAgain()
    }
  } finally {
    listener.close()
  }
}
