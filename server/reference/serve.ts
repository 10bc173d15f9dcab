import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { openApiDocument } from '../../rest-facade/openapi.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import type { Brand } from '../browser/brand.ts'
import { styleSheet } from '../browser/pages/style-sheet.ts'
import { setPageHeaders } from '../browser/send-page.ts'
import { nameOf } from '../http/host-name.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { Step, StepContext } from '../http/state.ts'
import { resolved } from './api-document.ts'
import { errorsPage } from './errors-page.ts'
import { llmsText } from './llms-text.ts'
import { referencePage } from './page.ts'

interface Options {
  baseUrls: BaseUrls
  /** The APIs' additional addresses, in the trial. */
  localUrls?: BaseUrls | undefined
  issuer?: string | undefined
  /** In the trial, the issuer at the additional addresses. */
  localIssuer?: string | undefined
  brand: string
  pageBrand?: Brand | undefined
  client?: (() => string | undefined) | undefined
}

interface File {
  type: string
  text: string
  etag: string
  zipped: Buffer
}

/** The build copies these files. */
const script = readFileSync(new URL('try.js', import.meta.url), 'utf8')
const ownStyle = readFileSync(new URL('reference.css', import.meta.url), 'utf8')

/** Serves each API's reference at `/v1/docs` of its host, the error catalogue below it, and `/llms.txt` at every host. */
export function reference({ baseUrls, localUrls, issuer, localIssuer, brand, pageBrand, client }: Options): Step {
  const issuerAt = (urls: BaseUrls) => (urls === localUrls ? localIssuer : issuer)
  const page = (section: Section, urls: BaseUrls) => {
    const issuer = issuerAt(urls)
    const api = resolved(openApiDocument(section, { urls: [urls[section]], brand, issuer }))
    return referencePage({ api, section, urls, issuer, brand: pageBrand, client: client?.() })
  }
  const texts = new Map<string, (section: Section, urls: BaseUrls) => [type: string, text: string]>([
    ['/v1/docs', (section, urls) => ['text/html', page(section, urls)]],
    ['/v1/docs/errors', (section) => ['text/html', errorsPage(section, pageBrand)]],
    ['/v1/docs/try.js', () => ['text/javascript', script]],
    ['/v1/docs/style.css', () => ['text/css', styleSheet + ownStyle]],
  ])
  const llms = fileOf('text/plain', llmsText({ urls: baseUrls, issuer }))
  /** Created at first use, so that start-up does not wait for them. */
  const made = new Map<string, File>()

  // At the paths of localhost the host was replaced.
  const urlsFor = ({ req, state: { host } }: StepContext) =>
    localUrls && nameOf(req.headers.host ?? '') !== nameOf(host) ? localUrls : baseUrls
  const fileAt = (ctx: StepContext) => {
    const { path, section } = ctx.state
    const text = section === null ? undefined : texts.get(path)
    if (!text) return path === '/llms.txt' ? llms : undefined
    const urls = urlsFor(ctx)
    const key = [urls[section!], path, client?.()].join(' ')
    const file = made.get(key) ?? fileOf(...text(section!, urls))
    made.set(key, file)
    return file
  }
  return (ctx, next) => {
    const file = fileAt(ctx)
    if (!file) return next()
    ctx.state.operation = 'reference'
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw errors.methodWrong('GET, HEAD')
    setPageHeaders(ctx)
    ctx.set('Content-Security-Policy', policyFor(issuerAt(urlsFor(ctx))))
    sendFile(ctx, file)
  }
}

/** Calls go to the page's own origin, tokens come from the issuer. */
function policyFor(issuer: string | undefined) {
  const own = `script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'${issuer ? ` ${issuer}/` : ''}`
  return `default-src 'none'; ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

function fileOf(type: string, text: string): File {
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 20)
  return { type: `${type}; charset=utf-8`, text, etag, zipped: gzipSync(text) }
}

function sendFile(ctx: StepContext, { type, text, etag, zipped }: File) {
  ctx.vary('Accept-Encoding')
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  ctx.set({ 'Cache-Control': 'no-cache', ETag: isZipped ? `"${etag}-gzip"` : `"${etag}"` })
  ctx.status = 200
  ctx.type = type
  if (isZipped) ctx.set('Content-Encoding', 'gzip')
  if (ctx.fresh) ctx.status = 304
  else ctx.body = isZipped ? zipped : text
}
