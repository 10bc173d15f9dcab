import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { environment, readConfig } from './config.ts'
import { createLog } from './log.ts'

/** Whatever hangs, the process ends in less than the 10 s after which it would be killed. */
const LAST_RESORT_MS = 9_500

/**
 * Heard from the first moment on, as a start that is broken off would leave a database running; and more than once, as
 * npm passes on the Ctrl-C that the terminal has sent to us as well.
 */
const shutdownSignal = new Promise<void>((resolve) => {
  const end = () => {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    resolve()
  }
  process.on('SIGTERM', end).on('SIGINT', end)
})

/** Runs a program of ours with the settings of the environment, until it returns; it does so soon after `shutdownSignal`. */
export async function runProcess(
  program: (config: Config, log: Logger, shutdownSignal: Promise<void>) => Promise<void>,
) {
  try {
    const config = readConfig(environment())
    const log = createLog(config.logLevel)
    await program(config, log, shutdownSignal)
    log.flush(() => process.exit(0))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}
