import { runProcess } from './process.ts'
import { openSecrets } from './secrets-key.ts'
import { openStore } from './store.ts'
import { openWorker } from './webhooks/open.ts'

/** A worker alone: it delivers what is due, and listens on no port. */
await runProcess(async (config, log, toldToEnd) => {
  const store = await openStore(config, (error) => log.warn({ err: error }, 'a database connection broke'))
  try {
    const { sealer } = await openSecrets(config, store.db, log)
    const worker = openWorker(config, { db: store.db, sealer, now: Date.now, log })
    log.info('the worker delivers')
    await toldToEnd
    await worker.close()
  } finally {
    await store.close()
  }
})
