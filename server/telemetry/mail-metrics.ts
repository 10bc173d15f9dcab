import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'

/** The returned function counts one. */
export function replayMetrics(registry: Registry): () => void {
  const replays = new Counter({
    name: 'oauth_refresh_replays_total',
    help: 'Grants that a replayed refresh token has ended.',
    registers: [registry],
  })
  return () => replays.inc()
}

/** `refused`: the mail server has refused the recipient, and accepts other mails. */
const OUTCOMES = ['sent', 'refused', 'failed'] as const

/** The returned function counts one attempt. */
export function mailMetrics(registry: Registry): (outcome: (typeof OUTCOMES)[number]) => void {
  const mails = new Counter({
    name: 'mails_total',
    help: 'Attempts to send a mail.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of OUTCOMES) mails.inc({ outcome }, 0)
  return (outcome) => mails.inc({ outcome })
}
