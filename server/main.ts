import { banner } from './process/banner.ts'
import { runProcess } from './process/run.ts'
import { startService } from './process/start.ts'

/** The service: both ports, and the webhook worker unless it is switched off. */
await runProcess(async (config, log, shutdownSignal) => {
  const service = await startService(config, log)
  try {
    process.stdout.write(await banner(config, service))
    await shutdownSignal
  } finally {
    await service.close()
  }
})
