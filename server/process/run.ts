import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { environment, readConfig, unknownSettings } from './config.ts'
import { createLog, logConsole } from './log.ts'

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
  let log: Logger | undefined
  let code = 0
  try {
    const config = readSettings()
    log = createLog(config.logLevel)
    if (config.production) logConsole(log)
    for (const sentence of unknownSettings()) log.warn(sentence)
    await program(config, log, shutdownSignal)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    code = 1
  }
  if (log) log.flush(() => process.exit(code))
  else process.exit(code)
}

/** The settings; where they cannot be used, a name that nobody knows may be the cause. */
function readSettings(): Config {
  const env = environment()
  try {
    return readConfig(env)
  } catch (error) {
    throw new Error([(error as Error).message, ...unknownSettings()].join('\n'), { cause: error })
  }
}
