import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { isPath, PROGRAM } from '../line/parser.ts'
import { actionsIn } from './completion-words.ts'

/** A script for bash 4 or later that completes the program's lines. Each name and choice is one plain word. */
export function bashScript(program: CommandUnknownOpts): string {
  const commands = program.commands.map((line) => line.name())
  const nouns = program.commands.filter((line) => line.commands.length > 0)
  const actions = actionsIn(program)
  const free: string[] = []
  const paths: string[] = []
  const values: string[] = []
  for (const { place, options } of actions) {
    for (const option of options) {
      const pattern = `'${place} ${option.long}'`
      if (option.argChoices) values.push(`    ${pattern}) words='${option.argChoices.join(' ')}' ;;\n`)
      else if (isPath(option)) paths.push(pattern)
      else if (option.required) free.push(pattern)
    }
  }
  const rows = [
    ...nouns.map((line) => [line.name(), line.commands.map((one) => one.name()), false] as const),
    ...actions.map(({ place, options, choices, takesPaths }) => {
      return [place, [...choices, ...options.map(({ long }) => long)], takesPaths] as const
    }),
  ]
  return `# Completes command lines of ${PROGRAM} in bash. Printed by: ${PROGRAM} completion bash
_member_apps() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} place= words= paths=
  # --option=value comes as three words.
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [ "$COMP_CWORD" -gt 1 ]; then place=\${COMP_WORDS[1]}; fi
  case $place in
    ${nouns.map((line) => line.name()).join('|')}) if [ "$COMP_CWORD" -gt 2 ]; then place="$place \${COMP_WORDS[2]}"; fi ;;
  esac
  COMPREPLY=()
  case "$place $prev" in
${values.join('')}    ${free.join('|')}) return ;;
    ${paths.join('|')}) paths=yes ;;
    *) case $place in
      '') words='${commands.join(' ')} --help' ;;
${rows.map(([place, words, takesPaths]) => `      '${place}') words='${[...words, '--help'].join(' ')}'${takesPaths ? ' paths=yes' : ''} ;;\n`).join('')}    esac ;;
  esac
  case "$paths$cur" in
    yes-*) ;;
    # Nothing in COMPREPLY: bash then completes paths by itself.
    yes*) compopt -o default 2>/dev/null; return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _member_apps ${PROGRAM}
`
}

/** The same for zsh, which reads scripts for bash, but has no `compopt`: it completes paths where nothing else is found. */
export const zshScript = (program: CommandUnknownOpts) =>
  `autoload -Uz bashcompinit && bashcompinit\n${bashScript(program).replace('complete -F', 'complete -o default -F')}`
