import type { Logger } from 'pino'
import type { Cipher } from '../../routers/cipher.ts'
import { associatedData } from '../../routers/cipher.ts'
import type { Claimed } from './queue.ts'
import type { Finished } from './results.ts'
import { waitAfter } from './retry-schedule.ts'
import type { Outcome, Sender } from './send/send.ts'

export interface Attempting {
  sender: Sender
  cipher: Cipher
  /** Unix time in milliseconds. */
  now: () => number
  log: Logger
  /** Seconds between the tries; by default those of the schedule. */
  waits?: readonly number[]
}

/** What tries a delivery once, says so in the log, and gives what is to be written of it. It never rejects. */
export function attempting({ sender, cipher, now, log, waits }: Attempting) {
  const send = async ({ id, subscription, url, secret: sealed, body }: Claimed): Promise<Outcome> => {
    if (url === null) return failure('the subscription has no address')
    let secret: string | null
    try {
      secret = sealed && cipher.decrypt(sealed, associatedData.subscription(subscription))
    } catch {
      return failure('the secret cannot be opened')
    }
    return sender.send({ id, url, secret, body })
  }

  return async (claimed: Claimed): Promise<Finished> => {
    const start = performance.now()
    const { status, error, answer, retryAfterSeconds, gone } = await send(claimed)
    const { id, lease, event, subscription, app } = claimed
    const attempt = claimed.attempts + 1
    const delivered = error === null
    const ms = Math.round(performance.now() - start)
    log[delivered ? 'info' : 'warn']({ delivery: id, event, subscription, app, attempt, status, error, ms })

    const wait = delivered || gone ? null : waitAfter(attempt, retryAfterSeconds, Math.random(), waits)
    return { id, lease, delivered, status, error, answer, next: wait === null ? null : now() + wait, gone }
  }
}

const failure = (error: string): Outcome => ({
  status: null,
  error,
  answer: null,
  retryAfterSeconds: null,
  gone: false,
})
