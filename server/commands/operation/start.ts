import type { StartOptions } from '../../process/run.ts'
import { runProcess } from '../../process/run.ts'
import type { Command } from '../line/command.ts'
import { program } from '../line/command.ts'

/** Runs the service until a signal ends it, and ends the process. */
const serve = (options: StartOptions) =>
  runProcess(async (config, log, shutdownSignal) => {
    // Loaded here, as packages may print while they are loaded: by now their output goes to the log.
    const { startService } = await import('../../process/start.ts')
    const { announce } = await import('../../process/banner.ts')
    const service = await startService(config, log)
    try {
      await announce(config, service, log)
      log.info(`${await shutdownSignal}: draining for ${config.drainMs / 1_000} s`)
    } finally {
      await service.close()
    }
  }, options)

const start = program({
  declare: (line) =>
    line
      .option('--port <N>', 'the public port in place of PORT; unless INTERNAL_PORT is set, the internal one is N + 1')
      .option(
        '--lan <ADDRESS>',
        "for a trial: answers a phone in the same network, at this machine's address there (HOST, LOCAL_HOST)",
      ),
  run: serve,
})

export const command: Command = {
  about: `Starts the database if needed, migrates it, and serves until Ctrl-C. Its log goes to standard output, in production as
JSON, a line for each event. The settings are those of .env.example, from the environment or a file .env in this folder.`,
  actions: { '': start },
  examples: ['start', 'start --port 4000', 'start --lan 192.168.1.7'],
}
