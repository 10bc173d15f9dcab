import { openApiDocument } from '../../rest-facade/openapi.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { Brand } from '../browser/brand.ts'
import { MAX_QUERY } from '../browser/docs-layout/docs-layout.ts'
import { setPageHeaders } from '../browser/send-page.ts'
import { onlyGet } from '../browser/stored-file.ts'
import { fillAddresses, markAddresses } from '../docs/addresses.ts'
import type { OpenDocs } from '../docs/open.ts'
import type { Ways } from '../docs/page.ts'
import { pagePolicy } from '../docs/serve.ts'
import type { ClientAddress } from '../http/client-address.ts'
import { toNetwork } from '../http/client-address.ts'
import { normalizeHost } from '../http/host-name.ts'
import { localHosts } from '../http/local-paths.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import { requestLimit } from '../limits/limit.ts'
import { resolved } from '../reference/api-document.ts'
import { errorEntries, guideEntries, operationEntries } from './entries.ts'
import { excerpt } from './excerpt.ts'
import { indexEntries } from './index-entries.ts'
import type { Hit } from './page.ts'
import { searchPage } from './page.ts'

/** Per minute and network: 30 people who type. */
export const MAX_SEARCHES = 600
const PAGE_HITS = 20
const SCRIPT_HITS = 12

interface Options {
  /** The addresses that hits and the sidebar lead to. */
  ways: Ways
  /** In the trial, at the name of this machine. */
  localWays?: Ways | undefined
  brand: string
  pageBrand: Brand
  limits: Limits
  readClientAddress: ClientAddress
}

/** Serves `/docs/search` of every host, a page, and `/docs/search.json` for its script. */
export function search(
  { open }: OpenDocs,
  { ways, localWays, brand, pageBrand, limits, readClientAddress }: Options,
): Step {
  const locals = localHosts(localWays?.urls)
  const isWithinLimit = requestLimit(limits, 'searches', MAX_SEARCHES)

  /** Created at the first search, in 0.1 to 0.5 s and 3 MB, so that start-up does not wait for it. */
  let found: ReturnType<typeof indexEntries> | undefined
  const openIndex = () =>
    (found ??= indexEntries([
      ...guideEntries(open().docs),
      ...sectionNames.flatMap((section) => {
        const at = { urls: [ways.urls[section]], host: new URL(ways.urls[section]).host, brand, issuer: undefined }
        return operationEntries(section, resolved(openApiDocument(section, at)))
      }),
      ...errorEntries(),
    ]))

  const find = (query: string, max: number, at: Ways): Hit[] =>
    openIndex()(query, max).map((match) => {
      const { title, heading, address, api } = match.entry
      const text = fillAddresses(markAddresses(match.entry.text), at)
      const part = excerpt({ ...match, entry: { ...match.entry, text } })
      return { title, heading, excerpt: part, url: api ? at.urls[api] + address : address }
    })

  return async (ctx, next) => {
    const { path, host } = ctx.state
    if (path !== '/docs/search' && path !== '/docs/search.json') return next()
    ctx.state.operation = 'docs'
    ctx.state.address = path
    onlyGet(ctx)
    const isWithin = await isWithinLimit(toNetwork(readClientAddress(ctx.req)))
    if (!isWithin) ctx.set('Retry-After', '60')
    const isPage = path === '/docs/search'
    if (!isWithin && !isPage) throw errors.rateLimited(60)
    const at = localWays && locals.has(normalizeHost(host)) ? localWays : ways
    const query = readQuery(ctx)
    setPageHeaders(ctx)
    ctx.set('Content-Security-Policy', pagePolicy)
    if (isWithin) ctx.set('Cache-Control', 'private, max-age=60')
    else ctx.status = 429
    if (isPage) {
      const site = { docs: open().docs, brand: pageBrand, ways: at }
      ctx.type = 'text/html; charset=utf-8'
      ctx.body = searchPage({ site, query, hits: isWithin && find(query, PAGE_HITS, at) })
    } else {
      ctx.type = 'application/json; charset=utf-8'
      ctx.body = JSON.stringify({ hits: find(query, SCRIPT_HITS, at) })
    }
  }
}

/** Longer ones are cut. */
const readQuery = ({ state: { search } }: StepContext) =>
  [...(new URLSearchParams(search).get('q') ?? '').trim()].slice(0, MAX_QUERY).join('')
