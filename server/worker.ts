import './process/node-version.ts'

const { runProcess } = await import('./process/run.ts')

/** A worker alone: it delivers what is due, and listens on no port. */
await runProcess(async (config, log, shutdownSignal) => {
  const { checkSessions } = await import('../prisma/session-limits.ts')
  const { openStore } = await import('./process/store.ts')
  const { secretsWarnings } = await import('./process/warnings.ts')
  const { openSecrets } = await import('./secrets/keys.ts')
  const { openWorker } = await import('./webhooks/open.ts')
  for (const sentence of secretsWarnings(config)) log.warn(sentence)
  const store = await openStore(config, (error) => log.warn({ err: error }, 'a database connection broke'), {
    warn: (sentence) => log.warn(sentence),
  })
  try {
    for (const sentence of await checkSessions(store.db)) log.warn(sentence)
    const { cipher } = await openSecrets(config, store.db)
    const worker = openWorker(config.webhooks, { db: store.db, cipher, now: Date.now, log })
    log.info('the worker delivers')
    await shutdownSignal
    await worker.close()
  } finally {
    await store.close()
  }
})
