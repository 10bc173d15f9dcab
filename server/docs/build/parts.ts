import { posix } from 'node:path'
import type { Token } from 'marked'
import type { Heading } from '../docs.ts'
import type { Entry } from './contents.ts'
import type { SourceFile } from './source-file.ts'

/** The tokens of a file that one page shows. */
export interface Part {
  slug: string
  title: string
  about: string
  source: SourceFile
  tokens: readonly Token[]
  heading: string
  /** In its tokens. */
  headings: readonly Heading[]
  /** Headings that the page's own one stands for: the file's title, and the first one if it has the same words. */
  above: readonly Heading[]
}

/** `sdk` of clients/sdk/README.md, `apps` of docs/apps.md. */
export const slugOf = (path: string) => {
  const { name, dir } = posix.parse(path)
  return name === 'README' ? posix.basename(dir) : name
}

/** One page, or one for each entry: the first of them keeps the file's slug, and what is before its heading. */
export function partsOf(source: SourceFile, entries: readonly Entry[]): Part[] {
  const starts = entries.map(({ anchor }, at) => {
    const heading = [...source.headings].find(([, { id }]) => id === anchor)?.[0]
    return at === 0 || !heading ? 0 : source.tokens.indexOf(heading)
  })
  const [first] = source.headings.values()
  return entries.map(({ title, about, anchor }, at) => {
    const all = source.tokens.slice(starts[at], starts[at + 1])
    const isAbove = (one: Heading | undefined) =>
      one !== undefined && (one === first || (one.id === anchor && one.text === title))
    const headings = all.flatMap((token) => source.headings.get(token) ?? [])
    return {
      ...{ title, about, source },
      slug: at === 0 ? slugOf(source.path) : `${slugOf(source.path)}-${anchor}`,
      heading: entries.length === 1 && first ? first.text : title,
      tokens: all.filter((token) => !isAbove(source.headings.get(token))),
      headings: headings.filter((one) => !isAbove(one)),
      above: headings.filter(isAbove),
    }
  })
}
