import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Argument, Command as Line } from '@commander-js/extra-typings'
import type { Command } from '../line/command.ts'
import { program } from '../line/command.ts'
import { declare, PROGRAM } from '../line/parser.ts'
import { bashScript, zshScript } from './bash-script.ts'
import { fishScript } from './fish-script.ts'
import { completionSummary, groups } from './registry.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } satisfies Record<
  string,
  (program: CommandUnknownOpts) => string
>

const shells = Object.keys(scripts) as (keyof typeof scripts)[]

const print = program({
  declare: (line) => line.addArgument(new Argument('<SHELL>', 'the shell that reads the script').choices(shells)),
  async run(_values, { stdout }, [shell]) {
    stdout.write(scripts[shell as keyof typeof scripts](await declaredProgram()))
  },
})

/** With all commands, to be read. */
export async function declaredProgram(): Promise<CommandUnknownOpts> {
  const all = new Line(PROGRAM)
  const add = (name: string, summary: string, command: Command) =>
    declare(all.command(name).summary(summary), command, [], async () => {})
  const listed = Object.values(groups).flatMap((group) => Object.entries(group))
  for (const [name, { summary, load }] of listed) add(name, summary, (await load()).command)
  add('completion', completionSummary, command)
  return all
}

export const command: Command = {
  about: `Prints a script that completes commands, actions, options and the values of options. Where it belongs:
  bash  ~/.local/share/bash-completion/completions/member-apps, or in ~/.bashrc: eval "$(member-apps completion bash)"
  zsh   in ~/.zshrc, after compinit: eval "$(member-apps completion zsh)"
  fish  ~/.config/fish/completions/member-apps.fish`,
  actions: { '': print },
  examples: shells.map((shell) => `completion ${shell}`),
}
