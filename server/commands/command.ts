import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../process/config.ts'
import type { Options, Values } from './option.ts'

export interface Io {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable
  stderr: Writable & { isTTY?: boolean }
  env: Environment
}

/** The streams of an action. With `--json`, `stdout` is standard error, and `document` alone is standard output. */
export interface ActionIo extends Io {
  document: Writable
}

/** The usage is printed below the message. */
export class UsageError extends Error {}

/** Arguments without a name. */
export interface Words {
  /** Their name in the usage. */
  readonly name: string
  readonly about: string
  readonly choices?: readonly string[]
  /** The sentence that refuses a line without one. */
  readonly required?: string
  readonly multiple?: true
  readonly arePaths?: true
}

export interface Action {
  readonly about?: string
  readonly options: Options
  readonly words?: Words
  /** Whether the arguments are passed on unread, as words. */
  readonly passesOn?: true
  readonly prints?: Prints
  /** The result, which is printed at the end; without `prints`, the exit code or nothing. Throws what is to be read. */
  readonly run: (values: never, io: ActionIo, words: readonly string[]) => Promise<unknown>
}

export interface Prints {
  /** The document of `--json`: `{ id, name }` or `[{ id, name }]`. */
  readonly json: string
  readonly text: (result: never) => string
  /** The sentence after the result with which the command fails. */
  readonly fault?: (result: never) => string | undefined
}

interface Typed<Of extends Options, Result> {
  about?: string
  options?: Of
  words?: Words
  passesOn?: true
  run: (values: Values<Of>, io: ActionIo, words: readonly string[]) => Promise<Result>
}

interface Printing<Result> {
  json: string
  text: (result: Result) => string
  fault?: (result: Result) => string | undefined
}

/** An action whose result is printed: as text, or with `--json` as a document. Undefined where it has printed it itself. */
export const action = <const Of extends Options, Result>(
  { options, ...rest }: Typed<Of, Result | undefined>,
  prints: Printing<Result>,
): Action => ({ ...rest, options: options ?? {}, prints })

/** An action whose output is of another kind, which takes no `--json`. */
export const program = <const Of extends Options>({ options, ...rest }: Typed<Of, unknown>): Action => ({
  ...rest,
  options: options ?? {},
})

export interface Command {
  /** What the help says below the usage. */
  readonly about: string
  /** By name; a command without names has one action, ''. */
  readonly actions: Readonly<Record<string, Action>>
  /** Lines that can be run in this order on the demo data. */
  readonly examples: readonly string[]
}
