import type { Registry } from 'prom-client'
import type { Database } from '../../prisma/client.ts'
import type { DueWatch } from '../../routers/kernel/due-watch.ts'
import { addDeliveryGauges, deliveryMetrics } from '../telemetry/delivery-metrics.ts'
import type { AttemptOptions } from './attempt.ts'
import { createSender } from './send/send.ts'
import type { Worker } from './worker.ts'
import { startWorker } from './worker.ts'

interface Settings {
  /** Addresses and networks that deliveries may reach although they are not public. */
  allow: readonly string[]
}

type Dependencies = Pick<AttemptOptions, 'cipher' | 'now' | 'log' | 'tracing'> & {
  db: Database
  watch: DueWatch
  registry: Registry
}

/** The worker has its own sender; `close` ends both. */
export function openWorker({ allow }: Settings, { registry, ...dependencies }: Dependencies): Worker {
  const sender = createSender({ allow, now: dependencies.now })
  const worker = startWorker({ ...dependencies, sender, metrics: deliveryMetrics(registry) })
  addDeliveryGauges(registry, worker.figures)
  return {
    figures: worker.figures,
    wake: worker.wake,
    async close() {
      const cut = await worker.close()
      sender.close()
      return cut
    },
  }
}
