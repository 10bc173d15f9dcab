import type { Token } from 'marked'
import type { Part } from './parts.ts'
import { textOf } from './source-file.ts'

/** Names, words and statuses; figures and dates are not looked for. */
const WORD = /[\p{L}_][\p{L}\d_]+|\b[1-5]\d\d\b/gu
const STOP = new Set(
  'after again all also an and another any are as at be but by both can do does each every for from has have if in into is it its may more most no not of on one only or other own same so some than that the their them then there these they this to was what when where which who will with without you your'.split(
    ' ',
  ),
)

/** The words of a text in lower case; those of `TOKEN_ISSUER` also by themselves. */
const wordsOf = (text: string) =>
  [...text.toLowerCase().matchAll(WORD)].flatMap(([word]) => (word.includes('_') ? [word, ...word.split('_')] : word))

/**
 * `pages`: [address, title]. `sections`: [page, id, heading], where an empty id is the top of the page. `words`: lines of a word
 * and, in base 36, its sections, each as the distance to the one before.
 */
export function searchIndex(parts: readonly Part[]): string {
  const sections: [page: number, id: string, heading: string][] = []
  const found = new Map<string, Set<number>>()
  parts.forEach((part, page) => {
    sections.push([page, '', part.heading])
    for (const token of part.tokens) {
      const heading = part.source.headings.get(token)
      if (heading) sections.push([page, heading.id, heading.text])
      for (const word of wordsOf(wholeText([token]))) {
        if (word.length < 2 || STOP.has(word)) continue
        found.set(word, (found.get(word) ?? new Set()).add(sections.length - 1))
      }
    }
  })
  const words = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([word, at]) => [word, ...distances(at)].join(' '))
  return JSON.stringify({ pages: parts.map(({ slug, title }) => [slug, title]), sections, words: words.join('\n') })
}

const distances = (sections: Set<number>) =>
  [...sections].map((section, at, all) => (section - (all[at - 1] ?? 0)).toString(36))

/** With tables and lists, without blocks of code: 6 kB of names that matter nowhere else. */
function wholeText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'code') return ''
      if (token.type === 'table') {
        const cells = [...token.header, ...token.rows.flat()] as { tokens: Token[] }[]
        return cells.map((cell) => textOf(cell.tokens)).join(' ')
      }
      if (token.type === 'list') return token.items.map((item: { tokens: Token[] }) => wholeText(item.tokens)).join(' ')
      return textOf([token])
    })
    .join(' ')
}
