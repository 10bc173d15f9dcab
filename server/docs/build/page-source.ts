import { posix } from 'node:path'
import type { Token } from 'marked'
import type { Heading } from '../docs.ts'
import type { Entry } from './contents.ts'
import type { SourceFile } from './source-file.ts'

/** A file with its line of docs/README.md. */
export interface PageSource {
  slug: string
  title: string
  about: string
  heading: string
  source: SourceFile
  /** The file's heading that is the page's own. */
  top: Heading | undefined
  /** The page's headings below it. */
  headings: readonly Heading[]
  tokens: readonly Token[]
}

/** `sdk` of clients/sdk/README.md, `apps` of docs/apps.md. */
export const toSlug = (path: string) => {
  const { name, dir } = posix.parse(path)
  return name === 'README' ? posix.basename(dir) : name
}

export function pageSource(source: SourceFile, { title, about }: Entry, slug = toSlug(source.path)): PageSource {
  const [top, ...headings] = source.headings.values()
  const tokens = source.tokens.filter((token) => !top || source.headings.get(token) !== top)
  return { slug, title, about, heading: top?.text ?? title, source, top, headings, tokens }
}
