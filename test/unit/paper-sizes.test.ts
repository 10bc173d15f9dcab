import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { table } from '../support/markdown-table.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const countWords = (text: string) => text.split(/\s+/).filter((word) => word !== '').length

/** The text under the heading of this version, up to the next one. */
function sectionOfVersion(changelog: string, version: string): string {
  const section = changelog.split(/^## /m).find((part) => part.startsWith(`${version} `))
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${version}.`)
  return section
}

/** Words as `wc -w` counts them. */
const bounds = table<'paper' | 'words'>(`
| paper                 | words |
|-----------------------|-------|
| CONTRIBUTING.md       | 1000  |
| README.md             | 500   |
| clients/sdk/README.md | 900   |
`)

describe('the papers', () => {
  it.each(bounds)('$paper has at most $words words', ({ paper, words }) => {
    expect(countWords(read(paper))).toBeLessThanOrEqual(Number(words))
  })

  // The recipes are programs above all.
  it.each([
    ['docs', 36_000],
    ['docs/recipes', 2_000],
  ])('the pages of %s have together at most %i words', (folder, most) => {
    const pages = readdirSync(join(import.meta.dirname, '../..', folder)).filter((name) => name.endsWith('.md'))
    const words = pages.map((name) => countWords(read(`${folder}/${name}`)))
    expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(most)
  })

  it('CHANGELOG.md has at most 450 words for 0.1.0', () => {
    expect(countWords(sectionOfVersion(read('CHANGELOG.md'), '0.1.0'))).toBeLessThanOrEqual(450)
  })
})
