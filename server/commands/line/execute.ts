import { parse } from './arguments.ts'
import type { ActionIo, Command, Io, Outcome } from './command.ts'
import { UsageError } from './command.ts'
import { helpOf, usageOf } from './help.ts'
import { printableLines } from './printable.ts'

/** Runs one action. Resolves with the exit code: 0, 1 when it failed, 2 when its arguments are wrong. */
export async function execute(name: string, command: Command, argv: readonly string[], io: Io): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.stdout.write(helpOf(name, command, argv))
    return 0
  }
  try {
    const { action, values, words } = parse(command, argv)
    const { json, ...own } = values
    const outcome = await action.run(own, streamsOf(io, json === true), words)
    if (typeof outcome === 'number') return outcome
    io.stdout.write(printableLines(json ? documentOf(outcome) : outcome.text()))
    if (outcome.fault === undefined) return 0
    io.stderr.write(`${printableLines(outcome.fault)}\n`)
    return 1
  } catch (error) {
    const message = printableLines((error as Error).message)
    const isUsage = error instanceof UsageError
    io.stderr.write(isUsage ? `${message}\n\n${usageOf(name, command, argv)}` : `${message}\n`)
    return isUsage ? 2 : 1
  }
}

/** Control characters are only within strings, where they are escaped as JSON does it. */
const documentOf = ({ document }: Outcome) => `${JSON.stringify(document, null, 2)}\n`

/** With `--json`, what an action writes before its result goes to standard error: questions, and what is to be removed. */
const streamsOf = (io: Io, json: boolean): ActionIo => ({
  stdin: io.stdin,
  stdout: json ? io.stderr : io.stdout,
  stderr: io.stderr,
  document: io.stdout,
  // Read lazily: not every action needs it.
  get env() {
    return io.env
  },
})
