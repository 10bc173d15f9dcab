import { readFileSync } from 'node:fs'
import { openApiDocument } from '../../rest-facade/openapi.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { Brand } from '../browser/brand.ts'
import { docsLayoutScript, docsLayoutStyle } from '../browser/docs-layout/docs-layout.ts'
import { lookAt, sendLook } from '../browser/look/serve.ts'
import { styleSheet } from '../browser/pages/style-sheet.ts'
import { setPageHeaders } from '../browser/send-page.ts'
import type { StoredFile } from '../browser/stored-file.ts'
import { onlyGet, sendStored, storedFile } from '../browser/stored-file.ts'
import type { Running } from '../docs/addresses.ts'
import { fillAddresses } from '../docs/addresses.ts'
import type { ReferenceCode } from '../docs/docs.ts'
import { normalizeHost } from '../http/host-name.ts'
import { localHosts } from '../http/local-paths.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { ApiDocument } from './api-document.ts'
import { listErrorSchemas, listOperations, resolved } from './api-document.ts'
import { chooseLanguage } from './choice.ts'
import { errorsPage } from './errors-page.ts'
import type { Language } from './languages.ts'
import { FIRST } from './languages.ts'
import type { Guide } from './llms-text.ts'
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
  /** Addresses that examples name. */
  ways: Running
  localWays?: Running | undefined
  readCode: () => Promise<ReferenceCode>
  /** The pages of the documentation, for llms.txt. */
  guides: () => readonly Guide[]
}

const PAGE = '/v1/docs'
const STYLE = '/v1/docs/style.css'

/** The build copies these files. */
const script = readFileSync(new URL('try.js', import.meta.url), 'utf8')
const codeScript = readFileSync(new URL('code.js', import.meta.url), 'utf8')
const showScript = readFileSync(new URL('show-code.js', import.meta.url), 'utf8')
const ownStyle = readFileSync(new URL('reference.css', import.meta.url), 'utf8')

/** Serves each API's reference at `/v1/docs` of its host, the error catalogue below it, and `/llms.txt` at every host. */
export function reference({
  baseUrls,
  localUrls,
  issuer,
  localIssuer,
  brand,
  pageBrand,
  client,
  guides,
  ways,
  localWays = ways,
  readCode,
}: Options): Step {
  const issuerAt = (urls: BaseUrls) => (urls === localUrls ? localIssuer : issuer)
  const buildReference = (
    section: Section,
    host: Section,
    urls: BaseUrls,
    language: Language = FIRST,
    all: ReferenceCode = {},
  ) => {
    const issuer = issuerAt(urls)
    const api = resolved(
      openApiDocument(section, { urls: [urls[section]], host: new URL(baseUrls[section]).host, brand, issuer }),
    )
    const fill = (marked: string) => fillAddresses(marked, urls === localUrls ? localWays : ways)
    const code = all[section] ?? {}
    return { api, section, host, urls, issuer, brand: pageBrand, client: client?.(), language, code, fill }
  }
  const texts = new Map<string, (...at: Parameters<typeof buildReference>) => [type: string, text: string]>([
    [PAGE, (...at) => ['text/html', referencePage(buildReference(...at))]],
    ['/v1/docs/errors', (...at) => ['text/html', errorsPage(buildReference(...at))]],
    ['/v1/docs/frame.js', () => ['text/javascript', docsLayoutScript]],
    ['/v1/docs/code.js', () => ['text/javascript', codeScript]],
    ['/v1/docs/show-code.js', () => ['text/javascript', showScript]],
    ['/v1/docs/try.js', () => ['text/javascript', script]],
    [STYLE, (...at) => ['text/css', styleSheet + docsLayoutStyle + ownStyle + currentRule(buildReference(...at).api)]],
  ])
  /** Created at first use, so that start-up does not wait for them. */
  const made = new Map<string, StoredFile>()
  const keep = (key: string, text: () => [type: string, text: string]) => {
    const file = made.get(key) ?? storedFile(...text())
    made.set(key, file)
    return file
  }

  const locals = localHosts(localUrls)
  // At the paths of localhost the host was replaced.
  const urlsFor = ({ state: { host, base } }: StepContext) =>
    localUrls && (base !== undefined || locals.has(normalizeHost(host))) ? localUrls : baseUrls
  const fileAt = async (ctx: StepContext) => {
    const { path, section } = ctx.state
    const urls = urlsFor(ctx)
    if (path === '/llms.txt') {
      const given = { urls, issuer: issuerAt(urls), guides: guides() }
      return keep(`${urls.apps} ${path}`, () => ['text/plain', llmsText(given)])
    }
    const text = section === null ? undefined : texts.get(path)
    if (!text) return undefined
    const shown = findShown(ctx)
    const language = path === PAGE ? chooseLanguage(ctx, urls[section!]) : FIRST
    const key = [urls[section!], shown, path, language, client?.()].join(' ')
    const code = path === PAGE && !made.has(key) ? await readCode() : {}
    return keep(key, () => text(shown, section!, urls, language, code))
  }
  return async (ctx, next) => {
    const look = ctx.state.section === null ? undefined : lookAt(ctx.state.path, '/v1/docs')
    if (look) return sendLook(ctx, look)
    const file = await fileAt(ctx)
    if (!file) return next()
    ctx.state.operation = 'reference'
    ctx.state.address = ctx.state.path
    onlyGet(ctx)
    setPageHeaders(ctx)
    const urls = urlsFor(ctx)
    // A trial has more names than its pages call: those are other origins.
    const isOther = (url: string | undefined): url is string =>
      url !== undefined && new URL(url).host !== ctx.req.headers.host
    ctx.set('Content-Security-Policy', policyFor([issuerAt(urls), urls[findShown(ctx)]].filter(isOther)))
    sendStored(ctx, file)
  }
}

/** The API of the page and its style sheet: that of the host, or with `?api=` another, which is shown where a tab has signed in. */
function findShown({ state: { section, path, search } }: StepContext): Section {
  const named = path === PAGE || path === STYLE ? new URLSearchParams(search).get('api') : null
  return sectionNames.find((name) => name === named) ?? section!
}

/** Marks the current item of the sidebar, without a script. */
function currentRule(api: ApiDocument) {
  const ids = [
    ...listOperations(api).map(({ operationId }) => operationId),
    'common',
    ...listErrorSchemas(api).map(([name]) => `schema-${name}`),
  ]
  const items = ids.map((id) => `body:has(#${id}:target) .pages [href$='#${id}']`)
  return `:is(${items}) { color: var(--accent); font-weight: 600; background: var(--card); box-shadow: inset 0.1875rem 0 var(--accent); }\n`
}

/** The search goes to the page's own origin, calls to the API that it shows; tokens come from the issuer. */
function policyFor(others: readonly string[]) {
  const own = `script-src 'self'; style-src 'self'; font-src 'self'; img-src data:; connect-src ${["'self'", ...others.map((one) => `${one}/`)].join(' ')}`
  return `default-src 'none'; ${own}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
}
