import type { Logger } from 'pino'

/** The least time between two lines. */
const EVERY_MS = 60_000

/**
 * For tokens of TOKEN_ISSUER that none of its keys has signed: anybody may send them, but they may also be of a key that the issuer
 * does not publish. A line has the number of those since the last one.
 */
export function logRefusedKeys(log: Logger, now: () => number): (cause: Error) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  let refused = 0
  return ({ message }) => {
    refused++
    if (now() < loggedAt + EVERY_MS) return
    log.warn({ refused, reason: message }, 'tokens of TOKEN_ISSUER were refused: none of its keys has signed them')
    loggedAt = now()
    refused = 0
  }
}
