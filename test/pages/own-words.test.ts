import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { languages } from '../../server/browser/language.ts'
import { loadWords } from '../../server/browser/words/own-words.ts'
import { findFaults } from '../../server/browser/words/text-faults.ts'
import { words } from '../../server/browser/words/words.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

async function write(files: Record<string, unknown>) {
  const directory = await temporaryDirectory()
  for (const [name, texts] of Object.entries(files)) {
    await writeFile(join(directory, name), typeof texts === 'string' ? texts : JSON.stringify(texts))
  }
  return directory
}

const lines = (list: unknown, path = ''): [string, string][] =>
  typeof list === 'object' && list !== null
    ? Object.entries(list).flatMap(([name, text]) => lines(text, `${path}.${name}`))
    : [[path, String(list)]]

describe('the texts of each language', () => {
  it.each(languages)('have the placeholders of the English ones, in %s', (language) => {
    expect(findFaults(words[language], { ...words.en, language: 'en' })).toEqual([])
    expect(lines(words[language]).map(([name]) => name)).toEqual(lines(words.en).map(([name]) => name))
  })

  it.each(languages.filter((language) => language !== 'en'))('are translated, in %s', (language) => {
    const english = new Map(lines(words.en))
    const same = lines(words[language]).filter(([name, text]) => text.includes(' ') && english.get(name) === text)
    expect(same.map(([, text]) => text).filter((text) => text !== '8 letters')).toEqual([])
  })
})

describe('WORDS_DIR', () => {
  it('replaces single texts of a language', async () => {
    const directory = await write({
      'en.json': { connected: 'Apps of the section', problems: { codeWrong: 'Wrong.' } },
      'fr.json': { asks: '{member} : accès demandé.' },
      'README.txt': 'ours',
    })
    const own = loadWords(directory)
    expect(own.en).toEqual({
      ...words.en,
      connected: 'Apps of the section',
      problems: { ...words.en.problems, codeWrong: 'Wrong.' },
    })
    expect(own.fr).toEqual({ ...words.fr, asks: '{member} : accès demandé.' })
    expect(own.de).toBe(words.de)
    expect(loadWords(undefined)).toBe(words)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a text without its value', { 'de.json': { asks: 'Hallo' } }, 'de.json: asks lacks {member}'],
    ['an unknown value', { 'en.json': { mark: 'By {team}' } }, 'en.json: mark has {team}, which has no value there'],
    ['an unknown text', { 'en.json': { markt: 'x' } }, 'en.json: markt is not a text of the pages'],
    ['an inherited name', { 'en.json': '{"__proto__":"x"}' }, 'en.json: __proto__ is not a text of the pages'],
    [
      'an unknown text within',
      { 'en.json': { messages: { expired: { titel: 'x' } } } },
      'en.json: messages.expired.titel is',
    ],
    ['a number', { 'it.json': { mark: 1 } }, 'it.json: mark is not a text'],
    ['nothing', { 'it.json': { mark: ' ' } }, 'it.json: mark is not a text'],
    ['null', { 'it.json': { mark: null } }, 'it.json: mark is not a text'],
    ['a text in place of several', { 'nl.json': { messages: 'x' } }, 'nl.json: messages is not an object of texts'],
    ['several in place of a text', { 'nl.json': { mark: { a: 'x' } } }, 'nl.json: mark is not a text'],
    ['a list', { 'nl.json': [] }, 'nl.json: it is not an object of texts'],
    ['a long text', { 'es.json': { mark: 'x'.repeat(1_001) } }, 'es.json: mark has more than 1000 characters'],
    ['another language', { 'pt.json': {} }, 'pt.json is not named after a language: en, de, fr, it, nl, es'],
    ['no JSON', { 'es.json': '{' }, 'es.json is not JSON'],
    ['a large file', { 'es.json': `{"mark":"${'x'.repeat(256 * 1024)}"}` }, 'es.json is larger than 256 KB'],
  ])('with %s stops the start', async (_what, files, line) => {
    const directory = await write(files)
    expect(() => loadWords(directory)).toThrow(`WORDS_DIR cannot be used:\n  ${line}`)
  })

  it('names each fault of all files in one error', async () => {
    const directory = await write({ 'de.json': { asks: 'x', mark: 1 }, 'en.json': { keep: '' } })
    expect(() => loadWords(directory)).toThrow(
      'WORDS_DIR cannot be used:\n  de.json: asks lacks {member}\n  de.json: mark is not a text\n  en.json: keep is not a text',
    )
  })

  it('without its directory stops the start', () => {
    expect(() => loadWords('/nowhere')).toThrow('WORDS_DIR cannot be used: /nowhere cannot be read (ENOENT)')
  })
})
