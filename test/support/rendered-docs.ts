import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documents } from '../../rest-facade/openapi.ts'
import { renderDocs } from '../../server/docs/build/render-docs.ts'
import type { Docs, DocsSource, ReferenceCode } from '../../server/docs/docs.ts'

const root = join(import.meta.dirname, '../..')
let docs: Docs | undefined
let code: Promise<ReferenceCode> | undefined

/** The documentation as the build renders it, rendered once in a worker process. */
export const renderedDocs: DocsSource = {
  read: () => (docs ??= renderDocs(root).docs),
  readCode: () => (code ??= renderCode()),
  picture: (name) => readFile(join(root, 'docs/images', name)),
}

/** Loaded by the few tests that read it: 0.15 s. */
async function renderCode() {
  const { renderReferenceCode } = await import('../../server/reference/build/render-code.ts')
  return renderReferenceCode(documents())
}
