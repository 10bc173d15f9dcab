import { isEmpty, seed } from '../prisma/seed.ts'
import { forgetExpired } from '../routers/quizzes/idempotency.ts'
import { banner } from './banner.ts'
import { readEnvironment } from './config.ts'
import { createLog, startService } from './start.ts'

const HOUR_MS = 3_600_000

try {
  const config = readEnvironment()
  const log = createLog(config)
  const service = await startService(config, log)
  const { db, embedded } = service.store

  if (embedded && (await isEmpty(db))) await seed(db, new Date())
  process.stdout.write(await banner(config, service))

  const housekeeping = setInterval(() => {
    forgetExpired(db, Date.now()).catch((error) => log.warn({ err: error }, 'expired records were not removed'))
  }, HOUR_MS)

  const end = async () => {
    clearInterval(housekeeping)
    await service.close()
    log.flush(() => process.exit(0))
  }
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}
