import type { Command as Line } from 'commander'
import { Argument, InvalidArgumentError, Option as LineOption } from 'commander'
import { nearName } from '../../process/near-name.ts'
import type { Action, Command, Words } from './command.ts'
import { optionsOf, UsageError } from './command.ts'
import type { Given, Option, Options } from './option.ts'

export const PROGRAM = 'member-apps'

type Run = (action: Action, values: Given, words: readonly string[]) => Promise<void>

/** Declares a command and its actions to Commander, which reads `argv`, prints the help, and calls `run`. */
export function declare(line: Line, { about, actions, examples }: Command, argv: readonly string[], run: Run) {
  line.description(about).helpCommand(false).addHelpText('after', examplesText(examples))
  for (const [name, action] of Object.entries(actions)) {
    if (name === '') {
      declareAction(line, action, argv, run)
      continue
    }
    const named = line
      .command(name)
      .summary(action.about!)
      .description(`${sentence(action.about!)}.\n\n${about}`)
    const own = examples.filter((example) => example.split(' ')[1] === name)
    if (own.length > 0) named.addHelpText('after', examplesText(own))
    declareAction(named, action, argv, run)
  }
}

export const sentence = (text: string) => text.replace(/^./, (first) => first.toUpperCase())

const examplesText = (examples: readonly string[]) =>
  `\nExamples:\n${examples.map((example) => `  $ ${PROGRAM} ${example}`).join('\n')}`

function declareAction(line: Line, action: Action, argv: readonly string[], run: Run) {
  const options = optionsOf(action)
  const declared = Object.entries(options).map(([name, option]) => toLineOption(name, option, argv))
  for (const option of declared) line.addOption(option)
  if (action.words) line.addArgument(toArgument(action.words))
  line.allowUnknownOption(action.passesOn === true)
  const needed = declared.filter((option) => options[option.name()]!.required)
  line.usage([...needed.map(({ flags }) => flags), line.usage()].join(' '))
  line.showHelpAfterError(`\nUsage: ${line.createHelp().commandUsage(line)}\n(--help explains each argument)`)
  line.action(async () => {
    const values = declared.map((option) => [option.name(), line.getOptionValue(option.attributeName())] as const)
    const given = Object.fromEntries(values.filter(([, value]) => value !== undefined))
    try {
      refuseMissing(given, options)
      await run(action, given, line.args)
    } catch (error) {
      if (error instanceof UsageError) line.error(error.message)
      throw error
    }
  })
}

function toLineOption(name: string, option: Option, argv: readonly string[]): LineOption {
  const { type, about, value = name.toUpperCase(), multiple, choices, isPath, mayBeEmpty } = option
  if (type === 'boolean') return new LineOption(`--${name}`, about)
  const line = new LineOption(`--${name} <${value}${multiple ? '...' : ''}>`, about)
  if (choices) line.choices(choices)
  return line.argParser((text, before: string | readonly string[] | undefined) => {
    // Otherwise `--member --yes` would ask for the member `--yes`.
    if (/^-./.test(text) && !argv.includes(`--${name}=${text}`)) {
      throw new InvalidArgumentError(`A value that begins with - is given as --${name}=${text}.`)
    }
    // An unset variable leaves an option empty in a script; `erase --member ''` would erase everybody's entries.
    if (text === '' && !mayBeEmpty) throw new InvalidArgumentError('It is empty.')
    // As the portal's forms take texts; white space alone is for the action to refuse.
    const given = isPath ? text : text.trim() || text
    if (choices) requireChoice(given, choices)
    return multiple ? [...(before ?? []), given] : given
  })
}

function toArgument({ name, about, choices, required, multiple }: Words): Argument {
  const word = `${name}${multiple ? '...' : ''}`
  const argument = new Argument(required ? `<${word}>` : `[${word}]`, about)
  if (choices) argument.choices(choices)
  return argument.argParser((text) => {
    if (text === '') throw new InvalidArgumentError('It is empty.')
    if (choices) requireChoice(text, choices)
  })
}

function requireChoice(given: string, choices: readonly string[]) {
  if (choices.includes(given)) return
  const near = nearName(given, choices)
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.${near ? ` Did you mean ${near}?` : ''}`)
}

/** Names all at once. Commander would name one, and that before a misspelt name. */
function refuseMissing(values: Given, options: Options) {
  const needed = Object.entries(options).filter(([, { required }]) => required !== undefined)
  if (needed.every(([name]) => values[name] !== undefined)) return
  const names = needed.map(([name]) => `--${name}`)
  const source = needed.length === 1 && typeof needed[0]![1].required === 'string' ? `: ${needed[0]![1].required}` : ''
  throw new UsageError(`${listed(names)} ${names.length === 1 ? 'is' : 'are'} required${source}.`)
}

const listed = (names: readonly string[]) => names.join(', ').replace(/, ([^,]+)$/, ' and $1')
