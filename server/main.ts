import { forgetExpired } from '../routers/quizzes/idempotency.ts'
import { banner } from './banner.ts'
import { readEnvironment } from './config.ts'
import { forgetExpiredRecords } from './oauth/adapter.ts'
import { forgetExpiredCodes } from './oauth/login/email-code.ts'
import { createLog, startService } from './start.ts'

const HOUR_MS = 3_600_000

/** Whatever hangs, the process ends in less than the 10 s after which it would be killed. */
const LAST_RESORT_MS = 9_500

/**
 * Heard from the first moment on, as a start that is broken off would leave a database running; and more than once, as
 * npm passes on the Ctrl-C that the terminal has sent to us as well.
 */
const toldToEnd = new Promise<void>((resolve) => {
  const end = () => {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    resolve()
  }
  process.on('SIGTERM', end).on('SIGINT', end)
})

try {
  const config = readEnvironment()
  const log = createLog(config)
  const service = await startService(config, log)
  try {
    process.stdout.write(await banner(config, service))

    const housekeeping = setInterval(() => {
      for (const forget of [forgetExpired, forgetExpiredRecords, forgetExpiredCodes, service.forgetRetiredKeys]) {
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
  log.flush(() => process.exit(0))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}
