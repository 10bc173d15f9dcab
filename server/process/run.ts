import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { environment, readConfig } from './config.ts'
import { createLog } from './log.ts'

/** Ends the process even if something hangs: supervisors kill after 10 s. */
const LAST_RESORT_MS = 9_500

/**
 * Registered before anything starts: an interrupted start would leave a database running. Both signals may come twice,
 * as npm passes on the Ctrl-C that the terminal has already sent to this process.
 */
const shutdownSignal = new Promise<void>((resolve) => {
  const end = () => {
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
    resolve()
  }
  process.on('SIGTERM', end).on('SIGINT', end)
})

/** Runs a program with the settings of the environment, and exits when it returns: 0, or 1 when it throws. */
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
