import { runProcess } from './run.ts'
import type { StartOptions } from './start-options.ts'

/** Runs the service until a signal ends it, and ends the process. */
export const serve = (options: StartOptions) =>
  runProcess(async (config, log, shutdownSignal) => {
    // Loaded here, as packages may print while they are loaded: by now their output goes to the log.
    const { startService } = await import('./start.ts')
    const { announce } = await import('./banner.ts')
    const service = await startService(config, log)
    try {
      await announce(config, service, log)
      log.info(`${await shutdownSignal}: draining for ${config.drainMs / 1_000} s`)
    } finally {
      await service.close()
    }
  }, options)
