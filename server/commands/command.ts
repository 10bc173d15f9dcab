import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../process/config.ts'

export interface Io {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable
  stderr: Writable & { isTTY?: boolean }
  env: Environment
}

/** Resolves with the exit code: 0, 1 when the command failed, 2 when its arguments are wrong. */
export type Run = (argv: readonly string[], io: Io) => Promise<number>

/** The usage is printed below the message. */
export class UsageError extends Error {}

/** Adds `--help`, error messages and exit codes to a command. One that returns nothing has succeeded. */
export const command =
  (usage: string, execute: (argv: readonly string[], io: Io) => Promise<number | undefined>): Run =>
  async (argv, io) => {
    if (argv.includes('--help') || argv.includes('-h')) {
      io.stdout.write(usage)
      return 0
    }
    try {
      return (await execute(argv, io)) ?? 0
    } catch (error) {
      const { message } = error as Error
      const isUsage = error instanceof UsageError
      io.stderr.write(isUsage ? `${message}\n\n${usage}` : `${message}\n`)
      return isUsage ? 2 : 1
    }
  }
