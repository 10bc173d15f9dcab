import type { Token, Tokens } from 'marked'
import type { DocsSection } from '../docs.ts'
import type { PageSource } from './page-source.ts'
import { isSettings, namesOfRow } from './settings-rows.ts'
import { joinText } from './source-file.ts'

/** Pages whose tables are looked up row by row. */
const LISTS = ['settings', 'external-issuer', 'commands']

const isTable = (token: Token): token is Tokens.Table => token.type === 'table'

/** The top of each page, each of its headings with the text below it, and rows of lists by their first cell. */
export const searchSections = (pages: readonly PageSource[]): DocsSection[] =>
  pages.flatMap(({ slug, about, source, tokens, heading: top }) => {
    const sections = [{ slug, id: '', heading: top, text: '' }]
    const rows: DocsSection[] = []
    for (const token of tokens) {
      const heading = source.headings.get(token)
      if (heading) {
        sections.push({ slug, id: heading.id, heading: heading.text, text: '' })
        continue
      }
      const { id } = sections.at(-1)!
      if (isTable(token) && LISTS.includes(slug)) rows.push(...tableRows(token, slug, id))
      else sections.at(-1)!.text += ` ${wholeText([token])}`
    }
    sections[0]!.text += ` ${about}`
    return [...sections, ...rows].map((section) => ({ ...section, text: section.text.replace(/\s+/g, ' ').trim() }))
  })

const joinCells = (cells: readonly Tokens.TableCell[]) =>
  cells
    .map((cell) => joinText(cell.tokens))
    .filter((text) => text !== '')
    .join(' · ')

/** A setting has a place of its own. */
const tableRows = (table: Tokens.Table, slug: string, id: string): DocsSection[] =>
  table.rows.map((row) => {
    const [first, ...others] = row
    const [setting] = isSettings(table) ? namesOfRow(row).values() : []
    return { slug, id: setting ?? id, heading: joinText(first!.tokens), text: joinCells(others) }
  })

/** With tables and lists, without blocks of code: 6 kB of names that matter nowhere else. */
function wholeText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'code') return ''
      if (isTable(token)) return [token.header, ...token.rows].map(joinCells).join(' · ')
      if (token.type === 'list') return token.items.map((item: { tokens: Token[] }) => wholeText(item.tokens)).join(' ')
      return joinText([token])
    })
    .join(' ')
}
