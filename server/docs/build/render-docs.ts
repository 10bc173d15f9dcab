import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { Docs } from '../docs.ts'
import { parseContents } from './contents.ts'
import { links } from './links.ts'
import type { Picture } from './page-html.ts'
import { pageHtml, readPicture } from './page-html.ts'
import { pageSource, toSlug } from './page-source.ts'
import { searchSections } from './search-sections.ts'
import { parsed } from './source-file.ts'

const OVERVIEW = 'docs/README.md'

/**
 * Renders docs/README.md and the files that it lists; `root` is the repository. `faults` has a sentence for each link that leads
 * nowhere, for HTML, which is escaped, and for a row that is in no table.
 */
export function renderDocs(root: string): { docs: Docs; faults: string[] } {
  const read = (path: string) => parsed(path, readFileSync(posix.join(root, path), 'utf8'))
  const faults: string[] = []
  const fault = (sentence: string) => void faults.push(sentence)

  const overview = read(OVERVIEW)
  const groups = parseContents(overview)
  const sources = [
    pageSource(overview, { title: 'Overview', about: '', path: OVERVIEW }, ''),
    ...groups.flatMap(({ entries }) => entries.map((entry) => pageSource(read(entry.path), entry))),
  ]
  const resolve = links(sources, fault)
  const pictures = new Map<string, Picture>()
  const picture = (path: string) => {
    const name = posix.basename(path)
    if (posix.dirname(path) !== 'docs/images') return undefined
    const found = pictures.get(name) ?? readPicture(name, readFileSync(posix.join(root, path)))
    pictures.set(name, found)
    return found
  }
  const pages = sources.map((source) => ({
    slug: source.slug,
    title: source.title,
    heading: source.heading,
    about: source.about,
    html: pageHtml(source, { resolve, picture, fault }),
    contents: source.headings.filter(({ depth }) => depth <= 3),
  }))
  const [, ...searched] = sources
  const docs: Docs = {
    groups: groups.map(({ title, entries }) => ({ title, slugs: entries.map(({ path }) => toSlug(path)) })),
    pages,
    sections: searchSections(searched),
    pictures: Object.fromEntries([...pictures.values()].map(({ name, hash }) => [name, hash])),
  }
  return { docs, faults }
}
