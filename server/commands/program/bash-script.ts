import type { Action } from '../line/command.ts'
import { isNamed, optionsOf } from '../line/command.ts'
import { PROGRAM } from '../line/parser.ts'
import type { Completed } from './registry.ts'

/** A script for bash 4 or later that completes the program's lines. Each name and choice is one plain word. */
export function bashScript(commands: Completed): string {
  const all = Object.entries(commands)
  const named = all.filter(([, { command }]) => isNamed(command))
  const actions = all.flatMap(([name, { command }]) =>
    Object.entries(command.actions).map(([action, declared]): [string, Action] => [
      `${name} ${action}`.trim(),
      declared,
    ]),
  )
  const free: string[] = []
  const paths: string[] = []
  const values: string[] = []
  for (const [place, action] of actions) {
    for (const [name, { type, choices, isPath }] of Object.entries(optionsOf(action))) {
      const option = `'${place} --${name}'`
      if (choices) values.push(`    ${option}) words='${choices.join(' ')}' ;;\n`)
      else if (isPath) paths.push(option)
      else if (type === 'string') free.push(option)
    }
  }
  const rows = [
    ...named.map(([name, { command }]) => [name, [...Object.keys(command.actions), '--help'], false] as const),
    ...actions.map(([place, action]) => {
      const options = Object.keys(optionsOf(action)).map((name) => `--${name}`)
      return [place, [...(action.words?.choices ?? []), ...options, '--help'], action.words?.arePaths === true] as const
    }),
  ]
  return `# Completes command lines of ${PROGRAM} in bash. Printed by: ${PROGRAM} completion bash
_member_apps() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} place= words= paths=
  # --option=value comes as three words.
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [ "$COMP_CWORD" -gt 1 ]; then place=\${COMP_WORDS[1]}; fi
  case $place in
    ${named.map(([name]) => name).join('|')}) if [ "$COMP_CWORD" -gt 2 ]; then place="$place \${COMP_WORDS[2]}"; fi ;;
  esac
  COMPREPLY=()
  case "$place $prev" in
${values.join('')}    ${free.join('|')}) return ;;
    ${paths.join('|')}) paths=yes ;;
    *) case $place in
      '') words='${all.map(([name]) => name).join(' ')} --help' ;;
${rows.map(([place, words, arePaths]) => `      '${place}') words='${words.join(' ')}'${arePaths ? ' paths=yes' : ''} ;;\n`).join('')}    esac ;;
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
export const zshScript = (commands: Completed) =>
  `autoload -Uz bashcompinit && bashcompinit\n${bashScript(commands).replace('complete -F', 'complete -o default -F')}`
