import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderDocs } from '../../server/docs/build/render-docs.ts'
import type { Docs, DocsSource } from '../../server/docs/docs.ts'

const root = join(import.meta.dirname, '../..')
let docs: Docs | undefined

/** The documentation as the build renders it, rendered once in a worker process. */
export const renderedDocs: DocsSource = {
  read: () => (docs ??= renderDocs(root).docs),
  picture: (name) => readFile(join(root, 'docs/images', name)),
}
