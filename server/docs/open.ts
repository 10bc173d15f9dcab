import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Docs, DocsPage, DocsSource } from './docs.ts'
import { toPageAddress } from './docs.ts'

export type OpenDocs = ReturnType<typeof openDocs>

/** Reads the pages at first use: half a megabyte that a start does not wait for. */
export function openDocs({ read, readCode, picture }: DocsSource) {
  let found: { docs: Docs; pages: Map<string, DocsPage>; pictures: Map<string, string> } | undefined
  const open = () => {
    if (found) return found
    const docs = read()
    const pages = new Map(docs.pages.map((page) => [toPageAddress(page.slug), page]))
    found = { docs, pages, pictures: new Map(Object.entries(docs.pictures)) }
    return found
  }
  return {
    open,
    readCode,
    picture,
    guides: () =>
      open()
        .docs.pages.filter(({ about }) => about !== '')
        .map(({ slug, title, about }) => ({ title, about, address: toPageAddress(slug) })),
  }
}

/** The build writes it beside the file that has this module (server/bundle.mjs); the sources lack it. */
const directory = new URL('docs/', import.meta.url)

export const builtDocs: DocsSource = {
  read: () => JSON.parse(readFileSync(new URL('docs.json', directory), 'utf8')),
  readCode: async () => JSON.parse(await readFile(new URL('reference-code.json', directory), 'utf8')),
  picture: (name) => readFile(new URL(`images/${name}`, directory)),
}
