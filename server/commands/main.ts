import '../process/node-version.ts'

const { environment, unknownSettings } = await import('../process/config.ts')
const { runCommand } = await import('./run-command.ts')

const { stdin, stdout, stderr } = process
let isChecked = false
process.exitCode = await runCommand(process.argv.slice(2), {
  ...{ stdin, stdout, stderr },
  // Read lazily, so that --help needs no readable .env.
  get env() {
    const env = environment()
    if (!isChecked) for (const sentence of unknownSettings()) stderr.write(`${sentence}\n`)
    isChecked = true
    return env
  },
})
