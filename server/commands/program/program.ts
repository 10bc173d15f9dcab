import { asksHelp, runCommand } from './run-command.ts'

/** Runs a command line with the streams and the environment of this process, and sets its exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const { stdin, stdout, stderr } = process
  // The declarations of the settings take 20 ms to load.
  const config = asksHelp(argv) ? undefined : await import('../../process/config.ts')
  let isChecked = false
  process.exitCode = await runCommand(argv, {
    stdin,
    stdout,
    stderr,
    // Read lazily, so that not every command needs a readable .env.
    get env() {
      const env = config!.environment()
      if (!isChecked) for (const sentence of config!.unknownSettings()) stderr.write(`${sentence}\n`)
      isChecked = true
      return env
    },
  })
}
