import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { documents } from '../../rest-facade/openapi.ts'
import { renderDocs } from '../../server/docs/build/render-docs.ts'
import type { Docs, DocsSource, ReferenceCode } from '../../server/docs/docs.ts'

const root = join(import.meta.dirname, '../..')
let docs: Docs | undefined
let code: Promise<ReferenceCode> | undefined

/** The documentation as the build renders it. */
export const renderedDocs: DocsSource = {
  read: () => (docs ??= readRendered('docs') ?? writeRendered('docs', renderDocs(root).docs)),
  readCode: () => (code ??= renderCode()),
  picture: (name) => readFile(join(root, 'docs/images', name)),
}

/** Loaded by the few tests that read it: 0.15 s. */
async function renderCode(): Promise<ReferenceCode> {
  const found = readRendered<ReferenceCode>('code')
  if (found) return found
  const { renderReferenceCode } = await import('../../server/reference/build/render-code.ts')
  return writeRendered('code', renderReferenceCode(documents()))
}

/** What one worker of a run has rendered, 3 s of the processor each, the others read. */
const toPath = (name: string) => join(inject('runDirectory'), `${name}.json`)

function readRendered<Rendered>(name: string): Rendered | undefined {
  const path = toPath(name)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

function writeRendered<Rendered>(name: string, rendered: Rendered): Rendered {
  const draft = toPath(`${name}-${process.pid}`)
  writeFileSync(draft, JSON.stringify(rendered))
  renameSync(draft, toPath(name))
  return rendered
}
