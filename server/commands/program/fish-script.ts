import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings'
import { isPath, PROGRAM } from '../line/parser.ts'
import { actionsIn } from './completion-words.ts'

/** A script for fish that completes the program's lines, with what the help says of each word. */
export function fishScript(program: CommandUnknownOpts): string {
  const names = [program, ...program.commands].flatMap((above) =>
    above.commands.map((line) =>
      offer(
        `__member_apps_at ${above === program ? '' : above.name()}`,
        `-a ${line.name()} -d ${quoted(line.summary())}`,
      ),
    ),
  )
  const words = actionsIn(program).flatMap(({ place, options, choices, takesPaths }) =>
    [
      ...(choices.length > 0 ? [`-a ${quoted(choices.join(' '))}`] : []),
      ...(takesPaths ? ['-F'] : []),
      ...options.map((option) => `-l ${option.name()}${valueOfOption(option)} -d ${quoted(option.description)}`),
    ].map((what) => offer(`__member_apps_in ${place}`, what)),
  )
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
${[...names, ...words].join('')}`
}

const offer = (condition: string, what: string) => `complete -c ${PROGRAM} -n ${quoted(condition.trim())} ${what}\n`

function valueOfOption(option: Option): string {
  if (!option.required) return ''
  if (isPath(option)) return ' -r -F'
  return option.argChoices ? ` -x -a ${quoted(option.argChoices.join(' '))}` : ' -x'
}

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
