import type { Worker } from '../webhooks/worker.ts'
import { runProcess } from './run.ts'
import { stoppedLine } from './stopped-line.ts'

/** A loop that has not run for this long hangs: a run takes seconds even while the database is unavailable. */
const HANGS_S = 60

/** Runs a separate worker until a signal ends it, and ends the process. With WORKER_PORT it can be monitored. */
export const deliver = () =>
  runProcess(async (config, log, shutdownSignal) => {
    const { openRuntime } = await import('./runtime.ts')
    const { secretsWarnings } = await import('./warnings.ts')
    const { listenForWatchers } = await import('../http/worker-port.ts')
    const { watchSecretsKey } = await import('../secrets/watch.ts')
    const { addQueueGauges } = await import('../telemetry/delivery-metrics.ts')
    const { dueFigures } = await import('../webhooks/due-figures.ts')
    const { openWorker } = await import('../webhooks/open.ts')
    const { DRAIN_MS } = await import('../webhooks/worker.ts')
    for (const sentence of secretsWarnings(config)) log.warn(sentence)
    const settings = { ...config, log, program: 'member-apps-worker' }
    const runtime = await openRuntime(settings, 'observed', 'store', 'secrets', 'clock', 'wakes')
    let deliveries = 0
    try {
      const { registry, tracing } = runtime.observed
      const { cipher } = runtime.secrets
      const { db } = runtime.store
      const { now } = runtime.clock
      const hasKey = watchSecretsKey({ db, cipher, log, now })
      let ending = false
      let worker: Worker | undefined
      // Before anything is claimed: the port may be taken.
      const parts = {
        registry,
        names: config.internalNames,
        alive: () => !worker || worker.figures.secondsSinceTurn() < HANGS_S,
        ready: async () => worker !== undefined && !ending && (await db.isReady()) && hasKey(),
      }
      const { workerPort, internalHost } = config
      const watchers = workerPort === undefined ? undefined : await listenForWatchers(workerPort, internalHost, parts)
      runtime.add(() => watchers?.close(0))
      worker = openWorker(config.webhooks, { db, watch: runtime.wakes.due, cipher, now, log, registry, tracing })
      addQueueGauges(registry, () => dueFigures(db, now()))
      log.info(watchers && { port: watchers.port }, 'the worker delivers')
      const signal = await shutdownSignal
      ending = true
      log.info(`${signal}: draining for at most ${DRAIN_MS / 1_000} s`)
      deliveries = await worker.close()
    } finally {
      await runtime.close()
    }
    log.info(stoppedLine({ deliveries }))
  })
