import type { Action } from '../line/command.ts'
import { isNamed, optionsOf } from '../line/command.ts'
import type { Option } from '../line/option.ts'
import { PROGRAM } from '../line/parser.ts'
import type { Completed } from './registry.ts'

/** A script for fish that completes the program's lines, with what the help says of each word. */
export function fishScript(commands: Completed): string {
  const lines = Object.entries(commands).flatMap(([name, { summary, command }]) => [
    offer('__member_apps_at', `-a ${name} -d ${quoted(summary)}`),
    ...(isNamed(command)
      ? [offer(`__member_apps_at ${name}`, `-a ${quoted(Object.keys(command.actions).join(' '))}`)]
      : []),
    ...Object.entries(command.actions).flatMap(([action, declared]) =>
      linesOf(`__member_apps_in ${name} ${action}`.trim(), declared),
    ),
  ])
  return `# Completes command lines of ${PROGRAM} in fish. Printed by: ${PROGRAM} completion fish
# Whether these words are all before the cursor, or the first of them.
function __member_apps_at
    test "$(commandline -opc)[2..]" = "$argv"
end
function __member_apps_in
    set -l words (commandline -opc)[2..]
    test "$words[1..$(count $argv)]" = "$argv"
end
complete -c ${PROGRAM} -f
complete -c ${PROGRAM} -l help -d 'prints the usage and examples'
${lines.join('')}`
}

const offer = (condition: string, what: string) => `complete -c ${PROGRAM} -n ${quoted(condition)} ${what}\n`

const linesOf = (condition: string, action: Action) => [
  ...(action.words?.choices ? [offer(condition, `-a ${quoted(action.words.choices.join(' '))}`)] : []),
  ...(action.words?.arePaths ? [offer(condition, '-F')] : []),
  ...Object.entries(optionsOf(action)).map(([name, option]) =>
    offer(condition, `-l ${name}${valueOfOption(option)} -d ${quoted(option.about)}`),
  ),
]

function valueOfOption({ type, choices, isPath }: Option): string {
  if (type === 'boolean') return ''
  if (isPath) return ' -r -F'
  return choices ? ` -x -a ${quoted(choices.join(' '))}` : ' -x'
}

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
