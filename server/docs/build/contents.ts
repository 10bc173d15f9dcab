import { posix } from 'node:path'
import type { Token, Tokens } from 'marked'
import type { SourceFile } from './source-file.ts'
import { joinText } from './source-file.ts'

/** A line of docs/README.md. */
export interface Entry {
  title: string
  about: string
  path: string
}

export interface Group {
  title: string
  entries: readonly Entry[]
}

/** The groups of the sidebar: each h2 with the list below it, whose items are `[title](file.md): about`. */
export function parseContents({ path, tokens, headings }: SourceFile): Group[] {
  const groups: { title: string; entries: Entry[] }[] = []
  for (const token of tokens) {
    const heading = headings.get(token)
    if (heading?.depth === 2) groups.push({ title: heading.text, entries: [] })
    if (token.type === 'list') groups.at(-1)?.entries.push(...parseEntries(token as Tokens.List, posix.dirname(path)))
  }
  return groups
}

const parseEntries = ({ items }: Tokens.List, directory: string): Entry[] =>
  items.flatMap(({ tokens: [line] }) => {
    const [link, ...rest] = (line as { tokens?: Token[] } | undefined)?.tokens ?? []
    if (link?.type !== 'link') return []
    const about = joinText(rest).replace(/^:\s*/, '').replaceAll('\n', ' ')
    return { title: joinText(link.tokens), about, path: posix.join(directory, link.href) }
  })
