import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { searchIndex } from '../../browser/frame/search-index.ts'
import type { Docs } from '../docs.ts'
import { addressOf } from '../docs.ts'
import type { Entry } from './contents.ts'
import { contentsOf } from './contents.ts'
import { links } from './links.ts'
import { pageHtml } from './page-html.ts'
import type { Part } from './parts.ts'
import { partsOf } from './parts.ts'
import type { Picture } from './pictures.ts'
import { pictureOf } from './pictures.ts'
import { searchSections } from './search-sections.ts'
import { parsed } from './source-file.ts'

const OVERVIEW = 'docs/README.md'

/**
 * Renders docs/README.md and the files that it lists; `root` is the repository. `faults` has a sentence for each link that leads
 * nowhere, and for HTML, which is escaped.
 */
export function renderDocs(root: string): { docs: Docs; faults: string[] } {
  const read = (path: string) => parsed(path, readFileSync(posix.join(root, path), 'utf8'))
  const faults: string[] = []
  const fault = (sentence: string) => void faults.push(sentence)

  const overview = read(OVERVIEW)
  const groups = contentsOf(overview)
  const byFile = new Map<string, Entry[]>()
  for (const entry of groups.flatMap(({ entries }) => entries)) {
    byFile.set(entry.path, [...(byFile.get(entry.path) ?? []), entry])
  }
  const first: Entry = { title: 'Overview', about: '', path: OVERVIEW, anchor: undefined }
  const parts = [
    ...partsOf(overview, [first]).map((part): Part => ({ ...part, slug: '' })),
    ...[...byFile].flatMap(([path, entries]) => partsOf(read(path), entries)),
  ]
  const resolve = links(parts, fault)
  const pictures = new Map<string, Picture>()
  const picture = (path: string) => {
    const name = posix.basename(path)
    if (posix.dirname(path) !== 'docs/images') return undefined
    const found = pictures.get(name) ?? pictureOf(name, readFileSync(posix.join(root, path)))
    pictures.set(name, found)
    return found
  }
  const pages = parts.map((part) => ({
    ...{ slug: part.slug, title: part.title, heading: part.heading, about: part.about },
    html: pageHtml(part, { resolve, picture, fault }),
    contents: part.headings.filter(({ depth }) => depth <= 3),
    moved: movedFrom(part, parts),
  }))
  const slugs = (of: readonly Entry[]) =>
    parts.filter(({ source, title }) => of.some((one) => one.path === source.path && one.title === title))
  const searched = parts.filter(({ slug }) => slug !== '')
  const docs: Docs = {
    groups: groups.map(({ title, entries }) => ({ title, slugs: slugs(entries).map(({ slug }) => slug) })),
    pages,
    search: searchIndex(
      searched.map(({ slug, title }) => [slug, title]),
      searchSections(searched),
    ),
    pictures: Object.fromEntries([...pictures.values()].map(({ name, hash }) => [name, hash])),
  }
  return { docs, faults }
}

/** A page that has the address of its whole file leads from each anchor of the file to the page that has it now. */
const movedFrom = (part: Part, parts: readonly Part[]) => {
  const ofFile = parts.filter(({ source }) => source === part.source)
  if (ofFile[0] !== part) return []
  return ofFile.slice(1).flatMap(({ slug, above, headings }) => {
    const address = addressOf(slug)
    return [
      ...above.map(({ id, text }) => ({ id, text, address })),
      ...headings.map(({ id, text }) => ({ id, text, address: `${address}#${id}` })),
    ]
  })
}
