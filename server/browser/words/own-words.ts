import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { languages } from '../language.ts'
import { findFaults } from './text-faults.ts'
import type { AllWords } from './words.ts'
import { words } from './words.ts'

const MAX_FILE_BYTES = 256 * 1024

type Texts = { readonly [name: string]: string | Texts }

/** `texts` with those of `own` in their place. */
const replaceTexts = (texts: Texts, own: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const other = Object.hasOwn(own, name) ? own[name]! : text
      return [name, typeof text === 'string' ? other : replaceTexts(text, other as Texts)]
    }),
  )

/**
 * The texts of the pages with an installation's own: `fr.json` in `directory` has those of French, named as in `fr.ts`. Languages
 * without a file keep theirs. Throws one error with a line for each text or file that cannot be used.
 */
export function loadWords(directory: string | undefined): AllWords {
  if (directory === undefined) return words
  const all = { ...words }
  const faults = listFiles(directory).flatMap((file) => {
    const language = languages.find((one) => file === `${one}.json`)
    if (language === undefined) return [`${file} is not named after a language: ${languages.join(', ')}`]
    const texts = readTexts(join(directory, file))
    if (texts instanceof Error) return [`${file} ${texts.message}`]
    const wrong = findFaults(texts, words[language])
    if (wrong.length === 0) all[language] = replaceTexts(words[language], texts as Texts) as typeof words.en
    return wrong.map((fault) => `${file}: ${fault}`)
  })
  if (faults.length > 0) throw new Error(`WORDS_DIR cannot be used:${faults.map((fault) => `\n  ${fault}`).join('')}`)
  return all
}

function listFiles(directory: string): string[] {
  try {
    return readdirSync(directory).filter((file) => file.endsWith('.json'))
  } catch (error) {
    throw new Error(`WORDS_DIR cannot be used: ${directory} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function readTexts(file: string): unknown {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) return new Error(`is larger than ${MAX_FILE_BYTES / 1024} KB`)
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return new Error(code === undefined ? 'is not JSON' : `cannot be read (${code})`)
  }
}
