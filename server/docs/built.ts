import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { DocsSource } from './docs.ts'

/** The build writes it beside the file that has this module (server/bundle.mjs); the sources lack it. */
const directory = new URL('docs/', import.meta.url)

export const builtDocs: DocsSource = {
  read: () => JSON.parse(readFileSync(new URL('docs.json', directory), 'utf8')),
  picture: (name) => readFile(new URL(`images/${name}`, directory)),
}
