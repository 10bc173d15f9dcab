import type { OptionValues } from '@commander-js/extra-typings'
import type { Action, ActionIo, Io, Outcome } from './command.ts'
import { UsageError } from './command.ts'
import { printableLines } from './table.ts'

/** Runs an action and prints its result. Resolves with the exit code: 0, or 1 when it failed. */
export async function execute(action: Action, values: OptionValues, words: readonly string[], io: Io): Promise<number> {
  const { json, ...own } = values
  let broken: Error | undefined
  const note = (error: Error) => {
    broken = error
  }
  io.stdout.on('error', note)
  try {
    const outcome = await action.run(own, toActionIo(io, json === true), words)
    if (typeof outcome === 'number') return outcome
    io.stdout.write(printableLines(json ? formatDocument(outcome) : outcome.text()))
    if (outcome.fault === undefined) return 0
    io.stderr.write(`${printableLines(outcome.fault)}\n`)
  } catch (error) {
    if (error instanceof UsageError) throw error
    // The stream's owner reports its errors, except EPIPE.
    if (error !== broken) io.stderr.write(`${printableLines((error as Error).message)}\n`)
  } finally {
    io.stdout.off('error', note)
  }
  return 1
}

/** Control characters are only within strings, where they are escaped as JSON does it. */
const formatDocument = ({ document }: Outcome) => `${JSON.stringify(document, null, 2)}\n`

/** With `--json`, what an action writes before its result goes to standard error: questions, and what is to be removed. */
const toActionIo = (io: Io, json: boolean): ActionIo => ({
  stdin: io.stdin,
  stdout: json ? io.stderr : io.stdout,
  stderr: io.stderr,
  document: io.stdout,
  // Read lazily: not every action needs it.
  get env() {
    return io.env
  },
})
