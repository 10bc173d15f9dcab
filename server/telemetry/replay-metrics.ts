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
