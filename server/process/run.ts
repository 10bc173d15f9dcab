import { isatty } from 'node:tty'
import type { Logger } from 'pino'
import type { Config, Environment } from './config.ts'
import { environment, readConfig, unknownSettings } from './config.ts'
import { createLog, logConsole } from './log.ts'

/** The options of a start, in place of settings. */
export interface StartOptions {
  port?: string | undefined
  lan?: string | undefined
}

/** The settings that the options stand for. */
export const toSettings = ({ port, lan }: StartOptions, { INTERNAL_PORT }: Environment): Environment => ({
  ...(port !== undefined && { PORT: port, INTERNAL_PORT: INTERNAL_PORT || String(Number(port) + 1 || '') }),
  ...(lan !== undefined && { HOST: '0.0.0.0', LOCAL_HOST: lan }),
})

/** Time after the drain: 8 s for requests in flight, and the time to close the database. */
const CLOSE_MS = 9_500

/**
 * The signals may come twice, as npm forwards the Ctrl-C that the terminal has already sent to this process. A terminal that is
 * closed would leave a database running; nohup takes the terminal from standard input.
 */
const listenForShutdown = ({ databaseUrl }: Config) =>
  new Promise<NodeJS.Signals>((resolve) => {
    process.on('SIGTERM', resolve).on('SIGINT', resolve)
    if (databaseUrl === undefined && isatty(0)) process.on('SIGHUP', resolve)
  })

/** Ends the process even if something hangs, before its supervisor does (systemd, compose and Helm: after 20 s). */
async function boundShutdown({ drainMs }: Config, shutdownSignal: Promise<unknown>) {
  await shutdownSignal
  const ms = drainMs + CLOSE_MS
  const end = () => {
    // Not to the log, which may be what hangs.
    process.stderr.write(`The process did not stop within ${ms / 1_000} s after the signal, and was ended.\n`)
    process.exit(1)
  }
  setTimeout(end, ms).unref()
}

/** Runs a program with the environment's settings, and exits when it returns: 0, or 1 when it throws. */
export async function runProcess(
  program: (config: Config, log: Logger, shutdownSignal: Promise<NodeJS.Signals>) => Promise<void>,
  options: StartOptions = {},
) {
  let log: Logger | undefined
  let code = 0
  try {
    const config = readSettings(options)
    // Before anything starts: an interrupted start would leave a database running.
    const shutdownSignal = listenForShutdown(config)
    void boundShutdown(config, shutdownSignal)
    log = createLog(config.logLevel, config)
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

/** When the settings cannot be used, an unknown name may be the cause, so these are reported too. */
function readSettings(options: StartOptions): Config {
  const env = environment()
  try {
    return readConfig({ ...env, ...toSettings(options, env) })
  } catch (error) {
    throw new Error([(error as Error).message, ...unknownSettings()].join('\n'), { cause: error })
  }
}
