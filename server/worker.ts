import { runProcess } from './process/run.ts'
import { openStore } from './process/store.ts'
import { openSecrets } from './secrets/keys.ts'
import { openWorker } from './webhooks/open.ts'

/** A worker alone: it delivers what is due, and listens on no port. */
await runProcess(async (config, log, shutdownSignal) => {
  const store = await openStore(config, (error) => log.warn({ err: error }, 'a database connection broke'))
  try {
    const { cipher } = await openSecrets(config, store.db, log)
    const worker = openWorker(config.webhooks, { db: store.db, cipher, now: Date.now, log })
    log.info('the worker delivers')
    await shutdownSignal
    await worker.close()
  } finally {
    await store.close()
  }
})
