import type { Command } from '../line/command.ts'
import { program } from '../line/command.ts'
import { bashScript, zshScript } from './bash-script.ts'
import { fishScript } from './fish-script.ts'
import type { Completed } from './registry.ts'
import { groups, ofCompletion } from './registry.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } satisfies Record<
  string,
  (of: Completed) => string
>

const shells = Object.keys(scripts) as (keyof typeof scripts)[]

const print = program({
  words: {
    name: 'SHELL',
    about: 'the shell that reads the script',
    choices: shells,
    required: true,
  },
  async run(_values, { stdout }, [shell]) {
    const loaded = Object.values(groups)
      .flatMap((group) => Object.entries(group))
      .map(async ([name, { summary, load }]) => [name, { summary, command: (await load()).command }] as const)
    const all = { ...Object.fromEntries(await Promise.all(loaded)), completion: { summary: ofCompletion, command } }
    stdout.write(scripts[shell as keyof typeof scripts](all))
  },
})

export const command: Command = {
  about: `Prints a script that completes commands, actions, options and the values of options. Where it belongs:
  bash  ~/.local/share/bash-completion/completions/member-apps, or in ~/.bashrc: eval "$(member-apps completion bash)"
  zsh   in ~/.zshrc, after compinit: eval "$(member-apps completion zsh)"
  fish  ~/.config/fish/completions/member-apps.fish`,
  actions: { '': print },
  examples: shells.map((shell) => `completion ${shell}`),
}
