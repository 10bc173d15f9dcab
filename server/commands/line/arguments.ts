import { parseArgs } from 'node:util'
import { nearName } from '../../process/near-name.ts'
import type { Action, Command } from './command.ts'
import { UsageError } from './command.ts'
import type { Given, Options } from './option.ts'
import { flag } from './option.ts'

interface Parsed {
  action: Action
  values: Given
  words: readonly string[]
}

/** The options of an action, with those that all have. */
export const optionsOf = ({ options, json }: Action): Options => ({
  ...options,
  ...(json !== undefined && { json: flag(`prints the result as JSON: ${json}`) }),
})

export const isNamed = ({ actions }: Command) => !Object.hasOwn(actions, '')

/** Throws a UsageError for anything but one action with its own options and words. */
export function parse(command: Command, argv: readonly string[]): Parsed {
  const { actions } = command
  if (!isNamed(command) && actions['']!.passesOn) return { action: actions['']!, values: {}, words: argv }
  const { values, positionals } = read(command, argv)
  const [name, words] = isNamed(command) ? [positionals[0], positionals.slice(1)] : ['', positionals]
  const action = name !== undefined && Object.hasOwn(actions, name) ? actions[name] : undefined
  const most = action?.words ? (action.words.multiple ? Infinity : 1) : 0
  if (!action || words.length > most) {
    if (!isNamed(command)) throw new UsageError(`Unexpected argument '${words[most]}'.`)
    const meant = action ? '' : didYouMean(name, Object.keys(actions))
    throw new UsageError(`An action is required: ${Object.keys(actions).join(', ')}.${meant}`)
  }
  const options = optionsOf(action)
  const other = Object.keys(values).find((name) => !Object.hasOwn(options, name))
  if (other) throw new UsageError(`--${other} is not an option of ${name}.`)
  refuseWrong(values, options)
  refuseWords(words, action)
  return { action, values, words }
}

function read(command: Command, argv: readonly string[]) {
  const options: Options = Object.assign({}, ...Object.values(command.actions).map(optionsOf))
  const allowPositionals = isNamed(command) || command.actions['']!.words !== undefined
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals })
    return { values: trimmed(values as Given, options), positionals }
  } catch (error) {
    const { message } = error as Error
    const [, unknown] = /^Unknown option '(--[^']+)'/.exec(message) ?? []
    const known = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(unknown === undefined ? message : `Unknown option ${unknown}.${didYouMean(unknown, known)}`)
  }
}

/** Texts without the white space around them, as the portal's forms take them; white space alone is for the action to refuse. */
function trimmed(values: Given, options: Options): Given {
  const entries = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'boolean' || options[name]!.isPath) return [name, value] as const
    const trim = (text: string) => text.trim() || text
    return [name, typeof value === 'string' ? trim(value) : value.map(trim)] as const
  })
  return Object.fromEntries(entries)
}

/** A sentence with the known word that the given one may be a slip of; '' where none is near. */
export function didYouMean(given: string | undefined, known: readonly string[]): string {
  const meant = given && nearName(given, known)
  return meant ? ` Did you mean ${meant}?` : ''
}

/** An unset variable leaves an option empty in a script; `erase --member ''` would erase everybody's entries. */
function refuseWrong(values: Given, options: Options) {
  for (const [name, value] of Object.entries(values)) {
    const { choices, mayBeEmpty } = options[name]!
    if ([value].flat().includes('') && !mayBeEmpty) throw new UsageError(`--${name} is empty.`)
    if (choices) refuseOther(`--${name}`, String(value), choices)
  }
  const needed = Object.entries(options).filter(([, { required }]) => required !== undefined)
  if (needed.every(([name]) => values[name] !== undefined)) return
  const names = needed.map(([name]) => `--${name}`)
  const source = needed.length === 1 && typeof needed[0]![1].required === 'string' ? `: ${needed[0]![1].required}` : ''
  throw new UsageError(`${listed(names)} ${names.length === 1 ? 'is' : 'are'} required${source}.`)
}

const listed = (names: readonly string[]) => names.join(', ').replace(/, ([^,]+)$/, ' and $1')

function refuseWords(words: readonly string[], action: Action) {
  if (words.includes('')) throw new UsageError(`A ${action.words!.arePaths ? 'path' : 'word'} is empty.`)
  if (words.length === 0 && action.words?.required) throw new UsageError(action.words.required)
  for (const word of words) if (action.words?.choices) refuseOther(action.words.name, word, action.words.choices)
}

function refuseOther(name: string, given: string, choices: readonly string[]) {
  if (!choices.includes(given)) {
    throw new UsageError(`${name} must be ${choices.join(' or ')}.${didYouMean(given, choices)}`)
  }
}
