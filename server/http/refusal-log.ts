import type { Logger } from 'pino'

/** The least time between two lines. */
const EVERY_MS = 5_000

/** How many causes of an error are searched. */
const MAX_DEPTH = 8

/**
 * For requests that are refused in an outage, which may be thousands a second. Returns the reason for the line of the first one,
 * and counts those that follow: a line every 5 s has their number, and the reason of the last.
 */
export function logRefusals(log: Logger): (cause: unknown) => string | undefined {
  let timer: NodeJS.Timeout | undefined
  let refused = 0
  let last: unknown
  const start = () => {
    timer = setTimeout(logCount, EVERY_MS).unref()
  }
  function logCount() {
    timer = undefined
    if (refused === 0) return
    log.error({ refused, reason: describeReason(last) }, 'more requests were refused')
    refused = 0
    start()
  }
  return (cause) => {
    if (timer) {
      refused++
      last = cause
      return undefined
    }
    start()
    return describeReason(cause)
  }
}

/** One line: the message of the innermost cause, or its code, as an error for several addresses has no message. */
function describeReason(thrown: unknown): string {
  let error = thrown
  for (let depth = 0; depth < MAX_DEPTH && error instanceof Error && error.cause instanceof Error; depth++) {
    error = error.cause
  }
  if (!(error instanceof Error)) return String(error)
  const { message, code = error.name } = error as NodeJS.ErrnoException
  return message.trim().split('\n').at(-1) || code
}
