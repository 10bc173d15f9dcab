import type { Logger } from 'pino'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { columnsOfSubscription, signingSecrets } from '../../routers/webhooks/stored-secrets.ts'
import type { DeliveryMetrics } from '../telemetry/delivery-metrics.ts'
import type { Tracing } from '../telemetry/trace-context.ts'
import type { Claimed } from './queue.ts'
import type { Attempt } from './results.ts'
import { retryDelayMs } from './retry-schedule.ts'
import type { AttemptResult } from './send/response.ts'
import { noResponse } from './send/response.ts'
import type { Sender } from './send/send.ts'

export interface AttemptOptions {
  sender: Sender
  cipher: Cipher
  /** Unix time in milliseconds. */
  now: () => number
  log: Logger
  /** Seconds between attempts; by default the retry schedule. */
  retryDelays?: readonly number[]
  metrics?: DeliveryMetrics
  /** Undefined: no spans, and no `traceparent` is sent. */
  tracing?: Tracing | undefined
}

/** Returns a function that attempts a delivery once and logs the attempt. It never rejects. */
export function createAttempt({ sender, cipher, now, log, retryDelays, metrics, tracing }: AttemptOptions) {
  async function send(delivery: Claimed, at: number, traceparent?: string): Promise<AttemptResult> {
    const { id, subscription, url, body } = delivery
    if (url === null) return noResponse('the subscription has no url')
    let secrets: ReturnType<typeof signingSecrets>
    try {
      secrets = signingSecrets(cipher, columnsOfSubscription(subscription), delivery, at)
    } catch {
      return noResponse('the secret cannot be decrypted')
    }
    return sender.send({ id, url, ...secrets, body, at, traceparent })
  }

  async function make(delivery: Claimed, traceparent?: string): Promise<Attempt> {
    const start = performance.now()
    const at = now()
    const result = await send(delivery, at, traceparent)
    const { status, error, retryAfterSeconds, gone } = result
    const { id, lease, url, event, subscription, app } = delivery
    const attempt = delivery.attempts + 1
    const delivered = error === null
    const seconds = (performance.now() - start) / 1_000
    const ms = Math.round(seconds * 1_000)
    log[delivered ? 'info' : 'warn']({ delivery: id, event, subscription, app, attempt, status, error, ms })

    const delay = delivered || gone ? null : retryDelayMs(attempt, retryAfterSeconds, Math.random(), retryDelays)
    metrics?.attempted(delivered ? 'delivered' : gone ? 'gone' : delay === null ? 'failed' : 'retried', seconds)
    // Not the delivery itself: results that wait for the database must not keep bodies in memory.
    return { id, lease, url, at, durationMs: ms, result, nextAttemptAt: delay === null ? null : now() + delay }
  }

  if (!tracing) return (delivery: Claimed) => make(delivery)
  return (delivery: Claimed) =>
    tracing.attempt(
      delivery.attempts + 1,
      (traceparent) => make(delivery, traceparent),
      ({ result }) => result,
    )
}
