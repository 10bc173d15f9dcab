import type { Readable, Writable } from 'node:stream'
import type { Command as CommanderCommand, OptionValues } from '@commander-js/extra-typings'
import type { Environment } from '../../process/config.ts'

export interface Io {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable & { isTTY?: boolean }
  env: Environment
}

/** The streams of an action. With `--json`, `stdout` is standard error, and `document` alone is standard output. */
export interface ActionIo extends Io {
  document: Writable
}

/** The usage is printed below the message. */
export class UsageError extends Error {}

/** Commander's, with the values of its options. */
export type Line<Values extends OptionValues = Record<never, never>> = CommanderCommand<
  unknown[],
  Values,
  Record<never, never>
>

export interface Action {
  /** What it does, in a list of actions. */
  readonly about?: string
  /** Its options and words, each made for this call: the parser changes how they are read. */
  readonly declare?: (line: Line) => unknown
  /** The document of `--json`: `{ id, name }` or `[{ id, name }]`; without one the action takes no `--json`. */
  readonly json?: string
  /** Resolves with what is printed at the end, or with the exit code. Throws what is to be read. */
  readonly run: (values: OptionValues, io: ActionIo, words: readonly string[]) => Promise<Outcome | number>
}

export interface Outcome {
  readonly document: unknown
  readonly text: () => string
  /** The sentence after the result with which the command fails. */
  readonly fault: string | undefined
}

interface Declared<Values extends OptionValues, Result> {
  about?: string
  declare?: (line: Line) => Line<Values>
  run: (values: Values, io: ActionIo, words: readonly string[]) => Promise<Result>
}

interface Printing<Result> {
  json: string
  text: (result: Result) => string
  fault?: (result: Result) => string | undefined
}

/** An action whose result is printed: as text, or with `--json` as a document. Undefined where it has printed it itself. */
export const action = <Result, Values extends OptionValues = Record<never, never>>(
  { run, ...rest }: Declared<Values, Result | undefined>,
  { json, text, fault }: Printing<Result>,
): Action => ({
  ...rest,
  json,
  async run(values, io, words) {
    const result = await run(values as Values, io, words)
    return result === undefined ? 0 : { document: result, text: () => text(result), fault: fault?.(result) }
  },
})

/** An action whose output is of another kind, which takes no `--json`. */
export const program = <Values extends OptionValues = Record<never, never>>({
  run,
  ...rest
}: Declared<Values, unknown>): Action => ({
  ...rest,
  async run(values, io, words) {
    const code = await run(values as Values, io, words)
    return typeof code === 'number' ? code : 0
  },
})

export interface Command {
  /** What the help says below the usage. */
  readonly about: string
  /** By name; a command without names has one action, ''. */
  readonly actions: Readonly<Record<string, Action>>
  /** Lines that can be run in this order on the demo data. */
  readonly examples: readonly string[]
}

export const yes = ['--yes', 'removes without asking'] as const
export const log = [
  '--log <FILE>',
  'appends a line for member-apps removals; keep the file apart from the database',
] as const
