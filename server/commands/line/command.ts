import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../../process/config.ts'
import type { Given, Options, Values } from './option.ts'
import { flag } from './option.ts'

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
  readonly required?: true
  readonly multiple?: true
  readonly arePaths?: true
}

export interface Action {
  readonly about?: string
  readonly options: Options
  readonly words?: Words
  /** Whether the arguments are passed on unread, as words. */
  readonly passesOn?: true
  /** The document of `--json`: `{ id, name }` or `[{ id, name }]`; without one the action takes no `--json`. */
  readonly json?: string
  /** Resolves with what is printed at the end, or with the exit code. Throws what is to be read. */
  readonly run: (values: Given, io: ActionIo, words: readonly string[]) => Promise<Outcome | number>
}

export interface Outcome {
  readonly document: unknown
  readonly text: () => string
  /** The sentence after the result with which the command fails. */
  readonly fault: string | undefined
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
  { options, run, ...rest }: Typed<Of, Result | undefined>,
  { json, text, fault }: Printing<Result>,
): Action => ({
  ...rest,
  options: options ?? {},
  json,
  async run(values, io, words) {
    const result = await run(values as Values<Of>, io, words)
    return result === undefined ? 0 : { document: result, text: () => text(result), fault: fault?.(result) }
  },
})

/** An action whose output is of another kind, which takes no `--json`. */
export const program = <const Of extends Options>({ options, run, ...rest }: Typed<Of, unknown>): Action => ({
  ...rest,
  options: options ?? {},
  async run(values, io, words) {
    const code = await run(values as Values<Of>, io, words)
    return typeof code === 'number' ? code : 0
  },
})

/** The options of an action, with the one that all have whose result is printed. */
export const optionsOf = ({ options, json }: Action): Options => ({
  ...options,
  ...(json !== undefined && { json: flag(`prints the result as JSON: ${json}`) }),
})

export interface Command {
  /** What the help says below the usage. */
  readonly about: string
  /** By name; a command without names has one action, ''. */
  readonly actions: Readonly<Record<string, Action>>
  /** Lines that can be run in this order on the demo data. */
  readonly examples: readonly string[]
}

export const isNamed = ({ actions }: Command) => !Object.hasOwn(actions, '')
