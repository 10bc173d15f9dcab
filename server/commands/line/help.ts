import { isNamed, optionsOf } from './arguments.ts'
import type { Action, Command } from './command.ts'
import type { Option, Options } from './option.ts'

const WIDTH = 120

export const PROGRAM = 'member-apps'

/** The usage, the options and the examples of a command, or of the action that the arguments name. */
export function helpOf(name: string, command: Command, argv: readonly string[]): string {
  const shown = actionsOf(command, argv)
  const examples = command.examples
    .filter((example) => shown.length > 1 || !isNamed(command) || example.split(' ')[1] === shown[0]![0])
    .map((example) => lines(`  $ ${PROGRAM}`, example.split(/ (?=--)/), ' \\'))
  const options: Options = Object.assign({}, ...shown.map(([, action]) => optionsOf(action)))
  const json = { ...options.json!, about: `prints the result as JSON; ${PROGRAM} ${name} ACTION --help has its fields` }
  const rows = [
    ...shown.flatMap(([, { words }]): [string, string][] => (words ? [[words.name, words.about]] : [])),
    ...optionRows(options.json && shown.length > 1 ? { ...options, json } : options),
  ]
  const parts = [
    usageOf(name, command, argv),
    `${command.about.trim()}\n`,
    ...(rows.length > 0 ? [`Arguments:\n${aligned(rows)}`] : []),
    ...(examples.length > 0 ? [`Examples:\n${examples.join('')}`] : []),
  ]
  return parts.join('\n')
}

/** A line for each action, or the one that the arguments name. */
export const usageOf = (name: string, command: Command, argv: readonly string[]) =>
  `Usage:\n${actionsOf(command, argv)
    .map(([actionName, action]) => lineOf([PROGRAM, name, actionName].filter(Boolean).join(' '), action))
    .join('')}`

function actionsOf({ actions }: Command, argv: readonly string[]): [string, Action][] {
  const all = Object.entries(actions)
  const named = all.filter(([name]) => name === argv[0])
  return named.length > 0 ? named : all
}

function lineOf(start: string, action: Action): string {
  const { words } = action
  const word = words && `${words.choices?.join('|') ?? words.name}${words.multiple ? ' ...' : ''}`
  const options = Object.entries(optionsOf(action)).map(([name, option]) => {
    const one = `--${name}${valueNameOf(option)}`
    return option.required ? one : `[${one}]`
  })
  const parts = [...(word ? [words.required ? word : `[${word}]`] : []), ...options]
  return lines(`  ${start}`, parts)
}

function lines(start: string, parts: readonly string[], continued = '') {
  const all = [start]
  for (const part of parts) {
    if (`${all.at(-1)} ${part}${continued}`.length > WIDTH) all.push('     ')
    all.push(`${all.pop()} ${part}`)
  }
  return `${all.join(`${continued}\n`)}\n`
}

const SHORT = 40

function valueNameOf({ type, value, choices, multiple }: Option): string {
  if (type === 'boolean') return ''
  const all = choices?.join('|') ?? ''
  return ` ${choices && (value === undefined || all.length <= SHORT) ? all : value}${multiple ? ' ...' : ''}`
}

const optionRows = (options: Options): [string, string][] =>
  Object.entries(options).map(([name, option]) => [`--${name}${valueNameOf(option)}`, option.about])

/** A text that is too long for its line continues below, at the same column. */
export function aligned(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([head]) => head.length)) + 2
  return rows.map(([head, text]) => `  ${head.padEnd(width)}${wrapped(text, WIDTH - 2 - width, 2 + width)}\n`).join('')
}

function wrapped(text: string, width: number, indent: number): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    if (lines.at(-1) !== '' && lines.at(-1)!.length + 1 + word.length > width) lines.push('')
    lines.push([lines.pop(), word].filter(Boolean).join(' '))
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}
