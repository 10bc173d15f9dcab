import { forgetOld } from '../routers/deliveries/forget.ts'
import { forgetExpired } from '../routers/quizzes/idempotency.ts'
import { banner } from './banner.ts'
import { forgetExpiredRecords } from './oauth/adapter.ts'
import { forgetExpiredCodes } from './oauth/login/email-code.ts'
import { runProcess } from './process.ts'
import { startService } from './start.ts'

const HOUR_MS = 3_600_000

await runProcess(async (config, log, toldToEnd) => {
  const service = await startService(config, log)
  try {
    process.stdout.write(await banner(config, service))

    const tasks = [forgetExpired, forgetExpiredRecords, forgetExpiredCodes, forgetOld, service.forgetRetiredKeys]
    const housekeeping = setInterval(() => {
      for (const forget of tasks) {
        forget(service.store.db, Date.now()).catch((error) =>
          log.warn({ err: error }, 'expired records were not removed'),
        )
      }
    }, HOUR_MS)
    await toldToEnd
    clearInterval(housekeeping)
  } finally {
    await service.close()
  }
})
