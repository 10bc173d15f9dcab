import type { QueryCombination, SearchOptions } from 'minisearch'
import MiniSearch from 'minisearch'
import type { Entry } from './entries.ts'
import { synonyms } from './synonyms.ts'
import { splitWords, stem } from './words.ts'

export interface Match {
  entry: Entry
  /** The stems of the entry's words that match. */
  stems: ReadonlySet<string>
}

/** More than a question needs; bounds the work for a long one. */
const MAX_WORDS = 8
const MAX_PHRASE = 3

/** With fewer results, those with other spellings or without some of the words follow. */
const FEW = 5

const SYNONYM = 0.4

/** Words of phrases as `log in`, which are not looked for by themselves. */
const SMALL = new Set(['in', 'not', 'on', 'to'])

/** For entries that have the words beside each other. */
const [IN_HEADING, IN_TEXT] = [2, 1.5]
/** Only these are compared with the phrase. */
const MAX_RANKED = 60

const isStatus = (word: string) => /^\d/.test(word)
const prefix = (word: string) => word.length > 2 && !isStatus(word)
const fuzzy = (word: string) => word.length >= 5 && !isStatus(word) && 0.2

/** Finds entries by words: those with all words of the question, then with typing errors, then with some of the words. */
export function indexEntries(entries: readonly Entry[]): (question: string, max: number) => Match[] {
  const index = new MiniSearch<{ at: number; title: string; heading: string; text: string }>({
    idField: 'at',
    fields: ['title', 'heading', 'text'],
    tokenize: splitWords,
    processTerm: stem,
    searchOptions: {
      boost: { title: 1.5, heading: 4 },
      boostDocument: (at, word) => entries[at]!.weigh(word),
      prefix,
    },
  })
  index.addAll(entries.map(({ title, heading, text }, at) => ({ at, title, heading, text })))

  /** Best first, each place once. */
  function rank(query: QueryCombination, phrase: string): Match[] {
    const raised = index
      .search(query)
      .slice(0, MAX_RANKED)
      .map(({ id, terms, score }) => {
        const entry = entries[id]!
        return { entry, stems: new Set(terms), score: score * nearness(entry, phrase) }
      })
    return raised.sort((one, other) => other.score - one.score)
  }

  return (question, max) => {
    const parts = splitQuestion(question)
    if (parts.length === 0) return []
    const phrase = parts.join(' ')
    const found = new Map<string, Match>()
    const steps: QueryCombination[] = [
      { combineWith: 'AND', queries: parts.map((part) => toQuery(part)) },
      { combineWith: 'AND', queries: parts.map((part) => toQuery(part, fuzzy)) },
      { combineWith: 'OR', queries: parts.map((part) => toQuery(part)) },
    ]
    for (const step of parts.length === 1 ? steps.slice(0, 2) : steps) {
      if (found.size >= FEW) break
      for (const match of rank(step, phrase)) {
        const key = `${match.entry.api} ${match.entry.address}`
        if (!found.has(key)) found.set(key, match)
      }
    }
    return [...found.values()].slice(0, max)
  }
}

function nearness({ heading, text }: Entry, phrase: string) {
  if (!phrase.includes(' ')) return 1
  const isIn = (field: string) => field.toLowerCase().replaceAll('-', ' ').includes(phrase)
  if (isIn(heading)) return IN_HEADING
  return isIn(text) ? IN_TEXT : 1
}

/** The words that matter; those of a phrase with synonyms stay together. */
function splitQuestion(question: string): string[] {
  const words = (question.toLowerCase().match(/[\p{L}\d_]+/gu) ?? []).filter(
    (word) => stem(word) !== null || SMALL.has(word),
  )
  const parts: string[] = []
  for (let at = 0; at < words.length && parts.length < MAX_WORDS; ) {
    const size = findPhrase(words.slice(at, at + MAX_PHRASE))
    const part = words.slice(at, at + size).join(' ')
    if (splitWords(part).some((word) => stem(word) !== null)) parts.push(part)
    at += size
  }
  return parts
}

const findPhrase = (words: readonly string[]) => {
  for (let size = words.length; size > 1; size--) if (findSynonyms(words.slice(0, size).join(' '))) return size
  return 1
}

const toStems = (phrase: string) => phrase.split(' ').map(stem).join(' ')
const byStems = new Map([...synonyms].map(([asked, found]) => [toStems(asked), found]))
const findSynonyms = (phrase: string) => byStems.get(toStems(phrase))

/** The words, or a synonym in place of them. Of `log in`, the one word that matters is not enough. */
function toQuery(phrase: string, own?: SearchOptions['fuzzy']): QueryCombination {
  const others = findSynonyms(phrase) ?? []
  const isWhole = others.length === 0 || phrase.split(' ').every((word) => stem(word) !== null)
  return {
    combineWith: 'OR',
    queries: [
      ...(isWhole ? [all(phrase, 1, { prefix, fuzzy: own ?? false })] : []),
      ...others.map((other) => all(other, isWhole ? SYNONYM : 1, { prefix: false, fuzzy: false })),
    ],
  }
}

const all = (phrase: string, boost: number, options: SearchOptions): QueryCombination => ({
  combineWith: 'AND',
  queries: [phrase],
  boostTerm: () => boost,
  ...options,
})
