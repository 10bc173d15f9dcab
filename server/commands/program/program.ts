import { environment, unknownSettings } from '../../process/config.ts'
import { runCommand } from './run-command.ts'

/** Runs a command line with the streams and the environment of this process, and sets its exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const { stdin, stdout, stderr } = process
  let isChecked = false
  process.exitCode = await runCommand(argv, {
    stdin,
    stdout,
    stderr,
    // Read lazily, so that --help needs no readable .env.
    get env() {
      const env = environment()
      if (!isChecked) for (const sentence of unknownSettings()) stderr.write(`${sentence}\n`)
      isChecked = true
      return env
    },
  })
}
