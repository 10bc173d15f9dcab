import type { ParseArgsConfig } from 'node:util'
import { parseArgs } from 'node:util'
import { closestMatch } from 'leven'
import { UsageError } from './command.ts'

type Options = NonNullable<ParseArgsConfig['options']>
export type Values<Of extends Options> = ReturnType<typeof parseArgs<{ options: Of }>>['values']

export const text = { type: 'string' } as const
export const texts = { type: 'string', multiple: true } as const
export const flag = { type: 'boolean' } as const

/** Throws a UsageError for anything but one action with its own options. */
export function parseAction<const Actions extends Record<string, Options>>(argv: readonly string[], actions: Actions) {
  const options: Options = Object.assign({}, ...Object.values(actions))
  const { values, positionals } = parse({ args: [...argv], options, allowPositionals: true })
  const [action, ...more] = positionals
  const own = action !== undefined && Object.hasOwn(actions, action) ? actions[action] : undefined
  if (!own || more.length > 0) {
    const meant = own ? '' : didYouMean(action, Object.keys(actions))
    throw new UsageError(`An action is required: ${Object.keys(actions).join(', ')}.${meant}`)
  }
  const other = Object.keys(values).find((name) => !Object.hasOwn(own, name))
  if (other) throw new UsageError(`--${other} is not an option of ${action}.`)
  refuseEmpty(values)
  return { action, values } as {
    [Action in keyof Actions]: { action: Action; values: Values<Actions[Action]> }
  }[keyof Actions]
}

/** Throws a UsageError for anything but the command's options. */
export function parseOptions<const Of extends Options>(
  argv: readonly string[],
  options: Of,
  mayBeEmpty: readonly (keyof Of)[] = [],
) {
  const { values } = parse({ args: [...argv], options })
  refuseEmpty(values, mayBeEmpty)
  return values as Values<Of>
}

export function parsePaths<const Of extends Options>(argv: readonly string[], options: Of) {
  const { values, positionals: paths } = parse({ args: [...argv], options, allowPositionals: true })
  refuseEmpty(values)
  if (paths.includes('')) throw new UsageError('A path is empty.')
  return { values: values as Values<Of>, paths }
}

export function oneOf<const Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === value)
  if (!found) throw new UsageError(`--${name} must be ${choices.join(' or ')}.`)
  return found
}

function parse(config: ParseArgsConfig) {
  try {
    return parseArgs(config)
  } catch (error) {
    const { message } = error as Error
    const [, unknown] = /^Unknown option '(--[^']+)'/.exec(message) ?? []
    const known = Object.keys(config.options ?? {}).map((name) => `--${name}`)
    throw new UsageError(unknown === undefined ? message : `Unknown option ${unknown}.${didYouMean(unknown, known)}`)
  }
}

/** A sentence with the known word that the given one may be a slip of; '' where none is near. */
export function didYouMean(given: string | undefined, known: readonly string[]): string {
  const meant = given && closestMatch(given, known, { maxDistance: 2 })
  return meant ? ` Did you mean ${meant}?` : ''
}

/** An unset variable leaves an option empty in a script; `erase --member ''` would erase everybody's entries. */
function refuseEmpty(values: object, mayBeEmpty: readonly PropertyKey[] = []) {
  for (const [name, value] of Object.entries(values)) {
    if ([value].flat().includes('') && !mayBeEmpty.includes(name)) throw new UsageError(`--${name} is empty.`)
  }
}
