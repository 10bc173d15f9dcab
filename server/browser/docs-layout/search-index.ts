/** A part of a page that the search leads to. */
export interface SearchSection {
  /** Its position in the list of pages. */
  page: number
  /** Empty: the top of the page. */
  id: string
  heading: string
  text: string
}

/** Names, words and statuses; figures and dates are not looked for. */
const WORD = /[\p{L}_][\p{L}\d_]+|\b[1-5]\d\d\b/gu
const STOP =
  'after again all also an and another any are as at be but by both can do does each every for from has have if in into is it its may more most no not of on one only or other own same so some than that the their them then there these they this to was what when where which who will with without you your'
const stop = new Set(STOP.split(' '))

/** The words of a text in lower case; those of `TOKEN_ISSUER` also by themselves. */
const splitWords = (text: string) =>
  [...text.toLowerCase().matchAll(WORD)].flatMap(([word]) => (word.includes('_') ? [word, ...word.split('_')] : word))

/**
 * JSON for docs-layout.js. `pages`: [address relative to the index, title]. `sections`: [page, id, heading]. `words`: each word,
 * without the characters that the one before begins with, whose number is first, with its sections as the distance to the one
 * before; numbers in base 36, commas between words, as JSON escapes line breaks. `stop`: words
 * that are not looked for.
 */
export function searchIndex(pages: readonly [address: string, title: string][], sections: readonly SearchSection[]) {
  const found = new Map<string, Set<number>>()
  sections.forEach(({ text }, at) => {
    for (const word of splitWords(text)) {
      if (word.length < 2 || stop.has(word)) continue
      found.set(word, (found.get(word) ?? new Set()).add(at))
    }
  })
  const words = [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, at], i, all) => [withoutShared(word, all[i - 1]?.[0] ?? ''), ...distances(at)].join(' '))
  const headings = sections.map(({ page, id, heading }) => [page, id, heading])
  return JSON.stringify({ pages, sections: headings, words: words.join(','), stop: STOP })
}

const MAX_SHARED = 35

function withoutShared(word: string, before: string) {
  let shared = 0
  while (shared < MAX_SHARED && word[shared] === before[shared] && shared < before.length) shared++
  return shared.toString(36) + word.slice(shared)
}

const distances = (sections: Set<number>) =>
  [...sections].map((section, at, all) => (section - (all[at - 1] ?? 0)).toString(36))
