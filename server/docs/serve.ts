import { readFileSync } from 'node:fs'
import type { Brand } from '../browser/brand.ts'
import { docsLayoutScript, docsLayoutStyle } from '../browser/docs-layout/docs-layout.ts'
import { lookAt, sendLook } from '../browser/look/serve.ts'
import { styleSheet } from '../browser/pages/style-sheet.ts'
import { setPageHeaders } from '../browser/send-page.ts'
import type { StoredFile } from '../browser/stored-file.ts'
import { onlyGet, sendStored, storedFile } from '../browser/stored-file.ts'
import { normalizeHost } from '../http/host-name.ts'
import { localHosts } from '../http/local-paths.ts'
import { isRevalidated } from '../http/revalidation.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { OpenDocs } from './open.ts'
import type { Ways } from './page.ts'
import { docsPage, LOGO } from './page.ts'

interface Options {
  brand: Brand
  ways: Ways
  /** In the trial, at the name of this machine. */
  localWays?: Ways | undefined
}

/** The build copies the file. */
const ownStyle = readFileSync(new URL('docs.css', import.meta.url), 'utf8')

const PICTURES = '/docs/images/'

const buildPolicy = (own: string, forms = "'none'") =>
  `default-src 'none'; ${own}base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`
/** Scripts, images and the form of the search are this service's own. */
export const pagePolicy = buildPolicy(
  "script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; ",
  "'self'",
)
/** An SVG opened by itself is a document of this origin. */
const picturePolicy = buildPolicy("style-src 'unsafe-inline'; sandbox; ")

/** Serves the documentation at `/docs` of every host: pages, their style, script and pictures. */
export function docs({ open, picture }: OpenDocs, { brand, ways, localWays }: Options): Step {
  const locals = localHosts(localWays?.urls)
  /** Created at first use, as many as there are pages. */
  const made = new Map<string, StoredFile>()

  function textAt(path: string, at: Ways): [type: string, text: string] | undefined {
    if (path === '/docs/style.css') return ['text/css', styleSheet + docsLayoutStyle + ownStyle]
    if (path === '/docs/script.js') return ['text/javascript', docsLayoutScript]
    const { docs, pages } = open()
    const page = pages.get(path)
    return page && ['text/html', docsPage({ docs, page, brand, ways: at })]
  }

  function fileAt({ state: { path, host } }: StepContext): StoredFile | undefined {
    const at = localWays && locals.has(normalizeHost(host)) ? localWays : ways
    const key = `${at.urls.apps} ${path}`
    const found = made.get(key)
    if (found) return found
    const text = textAt(path, at)
    if (!text) return undefined
    const file = storedFile(...text)
    made.set(key, file)
    return file
  }

  function pictureAt(path: string) {
    const { logo } = brand
    if (path === LOGO) return logo && { type: logo.type, etag: logo.version, bytes: () => logo.bytes }
    const name = path.slice(PICTURES.length)
    const etag = open().pictures.get(name)
    return etag === undefined
      ? undefined
      : { type: name.endsWith('.svg') ? 'image/svg+xml' : 'image/png', etag, bytes: () => picture(name) }
  }

  return async (ctx, next) => {
    const { path } = ctx.state
    if (path !== '/docs' && !path.startsWith('/docs/')) return next()
    const look = lookAt(path, '/docs')
    if (look) return sendLook(ctx, look)
    const found = path.startsWith(PICTURES) ? pictureAt(path) : fileAt(ctx)
    if (!found) return next()
    ctx.state.operation = 'docs'
    ctx.state.address = path
    onlyGet(ctx)
    setPageHeaders(ctx)
    ctx.set('Content-Security-Policy', 'bytes' in found ? picturePolicy : pagePolicy)
    if (!('bytes' in found)) return sendStored(ctx, found)
    if (isRevalidated(ctx, `"${found.etag}"`)) return
    ctx.type = found.type
    ctx.body = await found.bytes()
  }
}
