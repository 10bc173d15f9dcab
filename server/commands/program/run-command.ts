import { didYouMean } from '../line/arguments.ts'
import type { Command, Io } from '../line/command.ts'
import { execute } from '../line/execute.ts'
import { aligned, PROGRAM } from '../line/help.ts'
import type { Listed } from './registry.ts'
import { groups, ofCompletion } from './registry.ts'

const all = {
  ...groups,
  Shell: { completion: { summary: ofCompletion, load: () => import('./completion.ts') } },
} as const

type KeysOf<Each> = Each extends unknown ? keyof Each : never

export type CommandName = KeysOf<(typeof all)[keyof typeof all]> & string

const commands = Object.assign({}, ...Object.values(all)) as Record<CommandName, Listed>

export const commandNames = Object.keys(commands) as CommandName[]

/** Loads the declaration of a command. */
export const commandOf = async (name: CommandName): Promise<Command> => (await commands[name].load()).command

export async function runCommand([name, ...argv]: readonly string[], io: Io): Promise<number> {
  const known = commandNames.find((one) => one === name)
  if (known) return execute(known, await commandOf(known), argv, io)
  if (name === '--help' || name === '-h') {
    io.stdout.write(help())
    return 0
  }
  const problem = name === undefined ? 'A command is required.' : `Unknown command: ${name}.`
  io.stderr.write(`${problem}${didYouMean(name, commandNames)}\n\n${help()}`)
  return 2
}

function help(): string {
  const lists = Object.entries(all).map(([group, commands]) => {
    const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const)
    return `${group}:\n${aligned(rows)}`
  })
  return `Usage:
  ${PROGRAM} COMMAND [ACTION] [arguments], in a checkout: npx ${PROGRAM} COMMAND [ACTION] [arguments]

${lists.join('\n')}
Each explains its arguments with --help, and shows examples. Commands that list or make something take --json: standard output
is then one JSON document and nothing else. Errors are sentences on standard error in any case. The exit code is 1 when a
command has failed, and 2 when its arguments are wrong.
`
}
