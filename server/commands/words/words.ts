import { Argument } from '@commander-js/extra-typings'
import type { Language } from '../../browser/language.ts'
import { languages } from '../../browser/language.ts'
import { loadWords } from '../../browser/words/own-words.ts'
import { readSettings } from '../../process/command-settings.ts'
import type { Command } from '../line/command.ts'
import { program } from '../line/command.ts'

const print = program({
  declare: (line) => line.addArgument(new Argument('<LANGUAGE>', 'the language').choices(languages)),
  async run(_values, io, [language]) {
    const { pageBrand } = readSettings(io.env, 'pageBrand')
    const { language: _, ...texts } = loadWords(pageBrand.words)[language as Language]
    io.stdout.write(`${JSON.stringify(texts, null, 2)}\n`)
  },
})

export const command: Command = {
  about: `Prints the texts of members' pages and mails as JSON, with those of WORDS_DIR. A file of that directory, such as fr.json,
has some of them under the same names, changed.`,
  actions: { '': print },
  examples: ['words fr', 'words de'],
}
