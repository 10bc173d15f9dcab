import { posix } from 'node:path'
import { toPageAddress } from '../docs.ts'
import type { PageSource } from './page-source.ts'

/** Resolves a link in the file `from`: an address, or the path in the repository of a file that is no page. */
export type Resolve = (from: string, href: string) => Page | { address: string } | { file: string }

interface Page {
  address: string
  title: string
}

export function links(sources: readonly PageSource[], fault: (sentence: string) => void): Resolve {
  const pages = new Map<string, Page>()
  for (const { slug, title, source, top, headings } of sources) {
    const { path } = source
    const files = posix.basename(path) === 'README.md' ? [path, posix.dirname(path)] : [path]
    const address = toPageAddress(slug)
    for (const file of files) {
      pages.set(file, { address, title })
      if (top) pages.set(`${file}#${top.id}`, { address, title })
      for (const { id } of headings) pages.set(`${file}#${id}`, { address: `${address}#${id}`, title })
    }
  }
  return (from, href) => {
    if (/^https?:\/\//.test(href)) return { address: href }
    const [path, anchor] = href.split('#')
    const file = path === '' ? from : posix.join(posix.dirname(from), path!).replace(/\/$/, '')
    const page = pages.get(anchor === undefined ? file : `${file}#${anchor}`)
    if (page) return page
    if (pages.has(file)) fault(`${from} links to ${href}, and there is no such heading.`)
    return { file }
  }
}
