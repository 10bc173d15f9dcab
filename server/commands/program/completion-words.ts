import type { CommandUnknownOpts } from '@commander-js/extra-typings'

/** The actions of all commands, with what their lines are completed by. */
export const actionsIn = (program: CommandUnknownOpts) =>
  program.commands
    .flatMap((line) => (line.commands.length > 0 ? line.commands : line))
    .map((line) => ({
      /** Its words after the name of the program. */
      place: line.parent === program ? line.name() : `${line.parent!.name()} ${line.name()}`,
      options: line.options,
      choices: line.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      takesPaths: line.registeredArguments.some((argument) => argument.name() === 'FILE'),
    }))
