import type { Token } from 'marked'
import type { SearchSection } from '../../browser/docs-layout/search-index.ts'
import type { PageSource } from './page-source.ts'
import { joinText } from './source-file.ts'

/** The top of each page, and each of its headings with the text below it. */
export const searchSections = (pages: readonly PageSource[]): SearchSection[] =>
  pages.flatMap(({ source, tokens, heading: top }, page) => {
    const sections = [{ page, id: '', heading: top, text: '' }]
    for (const token of tokens) {
      const heading = source.headings.get(token)
      if (heading) sections.push({ page, id: heading.id, heading: heading.text, text: '' })
      sections.at(-1)!.text += ` ${wholeText([token])}`
    }
    return sections
  })

/** With tables and lists, without blocks of code: 6 kB of names that matter nowhere else. */
function wholeText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'code') return ''
      if (token.type === 'table') {
        const cells = [...token.header, ...token.rows.flat()] as { tokens: Token[] }[]
        return cells.map((cell) => joinText(cell.tokens)).join(' ')
      }
      if (token.type === 'list') return token.items.map((item: { tokens: Token[] }) => wholeText(item.tokens)).join(' ')
      return joinText([token])
    })
    .join(' ')
}
