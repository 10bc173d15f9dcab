import type { Match } from './index-entries.ts'
import { splitWords, stem, WORD } from './words.ts'

const LENGTH = 160
/** Words of a text that are compared; the longest section has hundreds. */
const MAX_FOUND = 30

/** Parts of a text: every second one is a word that was found. */
export type Excerpt = readonly string[]

/** The part of the text that has most of the words, about 160 characters long. */
export function excerpt({ entry: { text }, stems }: Match): Excerpt {
  const found = findWords(text, stems).slice(0, MAX_FOUND)
  const count = (from: number) =>
    new Set(found.filter(({ start, end }) => start >= from && end <= from + LENGTH).map((word) => word.stem)).size
  // The first of the best places.
  const best = found.reduce((top, { start }) => (count(start) > count(top) ? start : top), found[0]?.start ?? 0)
  const start = findStart(text, best)
  const end = findEnd(text, start + LENGTH)
  const marked = found.filter((word) => word.start >= start && word.end <= end)
  const parts: string[] = []
  let at = start
  for (const word of marked) {
    parts.push(text.slice(at, word.start), text.slice(word.start, word.end))
    at = word.end
  }
  parts.push(text.slice(at, end) + (end < text.length ? ' …' : ''))
  if (start > 0) parts[0] = `… ${parts[0]}`
  return parts
}

/** A stem begins as its words do, which is compared first: 1 in place of 5 ms for a page of hits. */
function findWords(text: string, stems: Match['stems']) {
  const beginnings = new Set([...stems].map((one) => one.slice(0, 2)))
  const mayMatch = (word: string) => word.includes('_') || beginnings.has(word.slice(0, 2).toLowerCase())
  return [...text.matchAll(WORD)].flatMap(({ index, 0: word }) => {
    const matching =
      mayMatch(word) &&
      splitWords(word)
        .map(stem)
        .find((one) => one !== null && stems.has(one))
    return matching ? [{ start: index, end: index + word.length, stem: matching }] : []
  })
}

/** The sentence's beginning if it is near, else a word's. */
function findStart(text: string, best: number) {
  if (best < LENGTH / 3) return 0
  const before = text.slice(best - LENGTH / 4, best)
  const sentence = before.search(/(?<=[.:·;] )\S[^.:·;]*$/)
  return best - LENGTH / 4 + (sentence >= 0 ? sentence : before.indexOf(' ') + 1)
}

function findEnd(text: string, most: number) {
  if (most >= text.length) return text.length
  const space = text.lastIndexOf(' ', most)
  return space > most - LENGTH / 2 ? space : most
}
