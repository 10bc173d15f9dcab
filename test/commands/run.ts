import { PassThrough, Readable } from 'node:stream'
import { expect } from 'vitest'
import { runCommand } from '../../server/commands/program/run-command.ts'
import type { Environment } from '../../server/process/config.ts'

interface Input {
  /** Typed on a terminal, where the input then ends. */
  typed?: string
  /** Comes through a pipe; a function is called once it is read. */
  piped?: string | Buffer | (() => AsyncIterable<string>)
  /** Standard error is a terminal. */
  watched?: boolean
}

/** Runs a command in this process. */
export async function run(argv: readonly string[], env: Environment, { typed, piped, watched }: Input = {}) {
  const source = typeof piped === 'function' ? Readable.from(piped(), { objectMode: false }) : new PassThrough()
  const stdin = Object.assign(source, { isTTY: typed !== undefined })
  if (stdin instanceof PassThrough) stdin.end(typed ?? piped)
  const [stdout, stderr] = [collect(), collect()]
  Object.assign(stderr.stream, { isTTY: watched === true })
  const code = await runCommand(argv, { stdin, stdout: stdout.stream, stderr: stderr.stream, env })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

function collect() {
  const chunks: string[] = []
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk) => chunks.push(chunk))
  return { stream, text: () => chunks.join('') }
}

export const succeeded = (stdout: string) => ({ code: 0, stdout, stderr: '' })
export const failed = (stderr: string) => ({ code: 1, stdout: '', stderr })
/** Wrong arguments: the message, with the usage below; '' for the usage alone. */
export const misused = (message: string) => ({
  code: 2,
  stdout: '',
  stderr: expect.stringMatching(
    message === '' ? /^Usage: / : new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}.*\n\nUsage: `, 's'),
  ),
})
