import { forgetExpired } from '../routers/quizzes/idempotency.ts'
import { deleteExpiredRecords } from './oauth/adapter.ts'
import { deleteExpiredCodes } from './oauth/login/email-code.ts'
import { banner } from './process/banner.ts'
import { runProcess } from './process/run.ts'
import { startService } from './process/start.ts'
import { purgeEvents } from './webhooks/purge.ts'

const HOUR_MS = 3_600_000

await runProcess(async (config, log, shutdownSignal) => {
  const service = await startService(config, log)
  try {
    process.stdout.write(await banner(config, service))

    const tasks = [forgetExpired, deleteExpiredRecords, deleteExpiredCodes, purgeEvents, service.forgetRetiredKeys]
    const housekeeping = setInterval(() => {
      for (const forget of tasks) {
        forget(service.store.db, Date.now()).catch((error) =>
          log.warn({ err: error }, 'expired records were not removed'),
        )
      }
    }, HOUR_MS)
    await shutdownSignal
    clearInterval(housekeeping)
  } finally {
    await service.close()
  }
})
