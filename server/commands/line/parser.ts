import type { Argument, CommandUnknownOpts, Option, OptionValues } from '@commander-js/extra-typings'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import { nearName } from '../../process/near-name.ts'
import type { Action, Command, Line } from './command.ts'
import { UsageError } from './command.ts'

export const PROGRAM = 'member-apps'

type Run = (action: Action, values: OptionValues, words: readonly string[]) => Promise<void>

/** Declares a command and its actions to Commander, which reads `argv`, prints the help, and calls `run`. */
export function declare(
  line: CommandUnknownOpts,
  { about, actions, examples }: Command,
  argv: readonly string[],
  run: Run,
) {
  line.description(about).helpCommand(false).addHelpText('after', examplesText(examples))
  for (const [name, action] of Object.entries(actions)) {
    if (name === '') {
      declareAction(line as Line, action, argv, run)
      continue
    }
    const named = line.command(name).summary(action.about!)
    named.description(`${sentence(action.about!)}.\n\n${about}`)
    const own = examples.filter((example) => example.split(' ')[1] === name)
    if (own.length > 0) named.addHelpText('after', examplesText(own))
    declareAction(named, action, argv, run)
  }
}

export const sentence = (text: string) => text.replace(/^./, (first) => first.toUpperCase())

const examplesText = (examples: readonly string[]) =>
  `\nExamples:\n${examples.map((example) => `  $ ${PROGRAM} ${example}`).join('\n')}`

function declareAction(line: Line, action: Action, argv: readonly string[], run: Run) {
  action.declare?.(line)
  if (action.json !== undefined) line.option('--json', `prints the result as JSON: ${action.json}`)
  for (const option of line.options) if (option.required) readStrictly(option, argv)
  for (const argument of line.registeredArguments) refuseEmpty(argument)
  const needed = line.options.filter(({ mandatory }) => mandatory)
  // Commander would name one of them, and that before a misspelt option.
  for (const option of needed) option.makeOptionMandatory(false)
  line.usage([...needed.map(({ flags }) => flags), line.usage()].join(' '))
  line.showHelpAfterError(`\nUsage: ${line.createHelp().commandUsage(line)}\n(--help explains each argument)`)
  line.action(async () => {
    const values: OptionValues = line.opts()
    if (needed.some((option) => values[option.attributeName()] === undefined)) {
      line.error(`${listed(needed.map(({ long }) => long!))} ${needed.length === 1 ? 'is' : 'are'} required.`)
    }
    await run(action, values, line.args).catch((error) => {
      if (error instanceof UsageError) line.error(error.message)
      throw error
    })
  })
}

const listed = (names: readonly string[]) => names.join(', ').replace(/, ([^,]+)$/, ' and $1')

/** An option that has been declared with a parser of its own may be empty. */
function readStrictly(option: Option, argv: readonly string[]) {
  const { long, argChoices: choices, variadic } = option
  const mayBeEmpty = option.parseArg !== undefined && !choices
  option.argParser((text, before: string | readonly string[] | undefined) => {
    // Otherwise `--member --yes` would ask for the member `--yes`.
    if (/^-./.test(text) && !argv.includes(`${long}=${text}`)) {
      throw new InvalidArgumentError(`A value that begins with - is given as ${long}=${text}.`)
    }
    // An unset variable leaves an option empty in a script; `erase --member ''` would erase everybody's entries.
    if (text === '' && !mayBeEmpty) throw new InvalidArgumentError('It is empty.')
    // As the portal's forms take texts; white space alone is for the action to refuse.
    const given = isPath(option) ? text : text.trim() || text
    requireChoice(given, choices)
    return variadic ? [...(before ?? []), given] : given
  })
}

function refuseEmpty(argument: Argument) {
  const { argChoices: choices } = argument
  argument.argParser((text) => {
    if (text === '') throw new InvalidArgumentError('It is empty.')
    requireChoice(text, choices)
  })
}

/** With a near one, which Commander's own check does not name. */
function requireChoice(given: string, choices: readonly string[] = [given]) {
  if (choices.includes(given)) return
  const near = nearName(given, choices)
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.${near ? ` Did you mean ${near}?` : ''}`)
}

/** Whether its value is a path. */
export const isPath = ({ flags }: Option) => flags.endsWith(' <FILE>')
