import type { Worker } from '../webhooks/worker.ts'
import { runProcess } from './run.ts'
import { stoppedLine } from './stopped-line.ts'

/** A loop that has not run for this long hangs: a run takes seconds even while the database is unavailable. */
const HANGS_S = 60

/** Runs a separate worker until a signal ends it, and ends the process. With WORKER_PORT it can be monitored. */
export const deliver = () =>
  runProcess(async (config, log, shutdownSignal) => {
    const { checkSessions } = await import('../../prisma/session-limits.ts')
    const { DueWatch } = await import('../../routers/kernel/due-watch.ts')
    const { openDatabaseClock } = await import('./database-clock.ts')
    const { openNodeWakes } = await import('./node-wakes.ts')
    const { observe } = await import('./observe.ts')
    const { openStore } = await import('./store.ts')
    const { secretsWarnings } = await import('./warnings.ts')
    const { listenForWatchers } = await import('../http/worker-port.ts')
    const { openSecrets } = await import('../secrets/keys.ts')
    const { watchSecretsKey } = await import('../secrets/watch.ts')
    const { addClockGauge } = await import('../telemetry/clock-metrics.ts')
    const { addDeliveryGauges, addQueueGauges, deliveryMetrics } = await import('../telemetry/delivery-metrics.ts')
    const { dueFigures } = await import('../webhooks/due-figures.ts')
    const { openWorker } = await import('../webhooks/open.ts')
    const { DRAIN_MS } = await import('../webhooks/worker.ts')
    for (const sentence of secretsWarnings(config)) log.warn(sentence)
    const { registry, pool, tracing } = await observe(config, 'member-apps-worker', log)
    const store = await openStore(config, (error) => log.warn({ err: error }, 'a database connection broke'), {
      warn: (sentence) => log.warn(sentence),
      observer: pool,
    })
    let deliveries = 0
    try {
      const { db } = store
      for (const sentence of await checkSessions(db)) log.warn(sentence)
      const { cipher } = await openSecrets(config, db)
      const clock = await openDatabaseClock(db, { log })
      addClockGauge(registry, clock.aheadSeconds)
      const { now } = clock
      const hasKey = watchSecretsKey({ db, cipher, log, now })
      const metrics = deliveryMetrics(registry)
      let ending = false
      let worker: Worker | undefined
      // Before anything is claimed: the port may be taken.
      const parts = {
        registry,
        names: config.internalNames,
        alive: () => !worker || worker.figures.secondsSinceTurn() < HANGS_S,
        ready: async () => worker !== undefined && !ending && (await db.isReady()) && (await hasKey()),
      }
      const { workerPort, internalHost } = config
      const watchers = workerPort === undefined ? undefined : await listenForWatchers(workerPort, internalHost, parts)
      const watch = new DueWatch()
      worker = openWorker(config.webhooks, { db, watch, cipher, now, log, metrics, tracing })
      const wakes = await openNodeWakes({ db, url: store.url, redisUrl: config.redisUrl }, { due: watch })
      addDeliveryGauges(registry, worker.figures)
      addQueueGauges(registry, () => dueFigures(db, now()))
      log.info(watchers && { port: watchers.port }, 'the worker delivers')
      const signal = await shutdownSignal
      ending = true
      log.info(`${signal}: draining for at most ${DRAIN_MS / 1_000} s`)
      deliveries = await worker.close()
      await wakes.close()
      await watchers?.close(0)
      clock.close()
    } finally {
      await store.close()
      await tracing?.close()
    }
    log.info(stoppedLine({ deliveries }))
  })
