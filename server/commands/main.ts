import { environment } from '../process/config.ts'
import { runCommand } from './run-command.ts'

const { stdin, stdout, stderr } = process
process.exitCode = await runCommand(process.argv.slice(2), {
  ...{ stdin, stdout, stderr },
  // Read late, so that --help needs no readable .env.
  get env() {
    return environment()
  },
})
