import { createInterface } from 'node:readline'
import { isSameText } from '../../../routers/kernel/equal-texts.ts'
import type { Io } from './command.ts'

type Confirmation = Pick<Io, 'stdin' | 'stdout' | 'stderr'> & { yes: boolean | undefined }

/** Throws before any work is done: without a terminal nobody can confirm. */
export function requireConfirmation({ stdin, yes }: Pick<Confirmation, 'stdin' | 'yes'>) {
  if (yes || stdin.isTTY) return
  throw new Error('Nothing was removed: without a terminal for the confirmation, --yes is required.')
}

/**
 * Lists what is to be removed. The operator types its name, unless `--yes` was given; throws when the input differs. Both are
 * written where they are seen: standard output may be redirected.
 */
export async function confirm(name: string, list: string, { stdin, stdout, stderr, yes }: Confirmation) {
  const output = !yes && !stdout.isTTY && stderr.isTTY ? stderr : stdout
  output.write(list)
  if (yes) return
  const typed = await ask({ stdin, stdout: output }, `Type ${name} to continue: `)
  if (typed === undefined || !isSameText(typed, name)) throw new Error('Nothing was removed.')
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Undefined when the terminal ends or a signal arrives: the caller continues and closes the database. */
async function ask({ stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>, question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: stdin, output: stdout })
  const close = () => terminal.close()
  for (const signal of SIGNALS) process.once(signal, close)
  try {
    return await new Promise<string | undefined>((resolve) => {
      terminal.once('close', () => resolve(undefined))
      terminal.question(question, resolve)
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, close)
    close()
  }
}
