import { CommanderError, Command as Line } from '@commander-js/extra-typings'
import type { Command, Io } from '../line/command.ts'
import { execute } from '../line/execute.ts'
import { declare, PROGRAM, sentence } from '../line/parser.ts'
import { printableLines } from '../line/table.ts'
import type { Listed } from './registry.ts'
import { completionSummary, groups } from './registry.ts'

const all = {
  ...groups,
  Shell: { completion: { summary: completionSummary, load: () => import('./completion.ts') } },
} as const

type UnionKeys<Each> = Each extends unknown ? keyof Each : never

export type CommandName = UnionKeys<(typeof all)[keyof typeof all]> & string

const commands = Object.assign({}, ...Object.values(all)) as Record<CommandName, Listed>

export const commandNames = Object.keys(commands) as CommandName[]

/** Loads the declaration of a command. */
export const loadCommand = async (name: CommandName): Promise<Command> => (await commands[name].load()).command

const WIDTH = 120

/** Resolves with the exit code: 0, 1 when the command failed, 2 when its arguments are wrong. */
export async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  let code = 0
  // One for each run, as it keeps the values that it has read.
  const program = new Line(PROGRAM)
  program.usage('COMMAND [ACTION] [arguments]').helpCommand(false).exitOverride().showHelpAfterError()
  // An action reads what follows its name, also `--`.
  program.enablePositionalOptions()
  program.configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
    outputError: (text, write) => write(printableLines(sentence(text.replace(/^error: /, '')))),
    getOutHelpWidth: () => WIDTH,
    getErrHelpWidth: () => WIDTH,
  })
  program.addHelpText('after', NOTES)
  for (const [group, listed] of Object.entries(all)) {
    program.commandsGroup(`${group}:`)
    for (const [name, { summary, load }] of Object.entries<Listed>(listed)) {
      const line = program.command(name).summary(summary)
      if (name !== argv[0]) continue
      declare(line, (await load()).command, argv, async (action, values, words) => {
        code = await execute(action, values, words, io)
      })
    }
  }
  try {
    await program.parseAsync(asksHelp(argv) ? [...argv.slice(0, 2), '--help'] : argv, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? 0 : 2
  }
}

/** Then the help is printed, whatever else is wrong. */
export const asksHelp = (argv: readonly string[]) => argv.includes('--help') || argv.includes('-h')

const NOTES = `
In a checkout: npx ${PROGRAM} COMMAND [ACTION] [arguments]

Each explains its arguments with --help, and shows examples. Commands that list or make something take --json: standard output
is then one JSON document and nothing else. Errors are sentences on standard error in any case. The exit code is 1 when a
command has failed, and 2 when its arguments are wrong.`

/** Runs a command line with the streams and the environment of this process, and sets its exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const { stdin, stdout, stderr } = process
  // The declarations of the settings take 20 ms to load.
  const config = asksHelp(argv) ? undefined : await import('../../process/config.ts')
  let isChecked = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader, such as `head`, has closed the pipe.
    if (error.code === 'EPIPE') return
    stderr.write(`Standard output cannot be written: ${error.message}\n`)
    process.exitCode = 1
  })
  // There is nowhere left to report it.
  stderr.on('error', () => {})
  const code = await runCommand(argv, {
    stdin,
    stdout,
    stderr,
    // Read lazily, so that not every command needs a readable .env.
    get env() {
      const env = config!.environment()
      if (!isChecked) for (const sentence of config!.unknownSettings()) stderr.write(`${sentence}\n`)
      isChecked = true
      return env
    },
  })
  process.exitCode ||= code
}
