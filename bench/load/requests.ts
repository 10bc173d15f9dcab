import { toOperationId } from '../../rest-facade/document.ts'
import type { Bench } from '../data/database.ts'
import { pageRequests, pages } from '../routes/pages.ts'
import type { BenchedRoute, Tenant } from '../routes/route.ts'
import { EACH } from '../routes/route.ts'
import { routes } from '../routes/routes.ts'
import { tokenRequests, tokenRoutes } from '../routes/tokens.ts'
import type { Request, RequestSet } from './process.ts'
import { spread } from './spread.ts'

/** A route's requests as apps send them, cycling through the tenants; the prefixes `trpc-` and `mcp-` send the same another way. */
export function buildRequests(bench: Bench, set: string): RequestSet {
  if (tokenRoutes[set]) {
    const masked = ['access_token', 'refresh_token']
    return { name: set, agreement: set, form: 'rest', masked, requests: tokenRequests(set) }
  }
  if (pages[set]) return { name: set, agreement: set, form: 'page', masked: [], requests: pageRequests(set) }
  const [, way, name] = splitWay(set)
  const route = routes[name]!
  const { method, path, body, section = 'apps', masked = [], each } = route
  const requestBy = {
    trpc: trpcRequest(route, section),
    mcp: toolRequest(route),
    rest: ({ token }: Tenant, i: number) => createRequest(token, section, method, path(i), body),
  }
  const form = way ?? 'rest'
  const request = requestBy[form]
  return { name: set, agreement: name, form, masked, requests: byTenants(selectCallers(bench, route), request, each) }
}

/** The way and the route of a set. */
export const splitWay = (set: string) =>
  /^(?:(trpc|mcp)-)?(.+)$/.exec(set) as unknown as [string, 'trpc' | 'mcp' | undefined, string]

/** As a client of the stateless version sends it. */
const toolRequest =
  ({ procedure }: BenchedRoute) =>
  ({ token }: Tenant, i: number) => {
    const { path, input } = procedure!
    const version = '2026-07-28'
    const name = toOperationId(path)
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { name, arguments: input?.(i) ?? {}, _meta }
    const text = JSON.stringify({ jsonrpc: '2.0', id: i, method: 'tools/call', params })
    const request = createRequest(token, 'sync', 'POST', '/v1/mcp', text)
    const sent = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name }
    return { ...request, headers: { ...request.headers, ...sent, accept: 'application/json, text/event-stream' } }
  }

const trpcRequest =
  ({ method, procedure }: BenchedRoute, section: string) =>
  ({ token }: Tenant, i: number) => {
    const { path, input } = procedure!
    const text = input && JSON.stringify(input(i))
    if (method !== 'GET') return createRequest(token, section, 'POST', `/trpc/${path}`, text)
    return createRequest(token, section, 'GET', `/trpc/${path}${text ? `?input=${encodeURIComponent(text)}` : ''}`)
  }

const selectCallers = ({ learners, developers, people, tenants }: Bench, { section }: BenchedRoute) =>
  section === undefined ? tenants : { lms: learners, notify: developers, auth: people }[section]

/** A tenant's requests spread over a round, in the same order for every set: the i-th requests of two sets ask for the same. */
export function byTenants(
  tenants: readonly Tenant[],
  request: (tenant: Tenant, i: number) => Request,
  each = EACH,
): Request[] {
  const all = tenants.flatMap((tenant, n) => Array.from({ length: each }, (_, i) => request(tenant, n * each + i)))
  return spread(all)
}

export const contentHeaders = (body: string | undefined): Record<string, string> =>
  body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }

export function createRequest(token: string, section: string, method: string, path: string, body?: string): Request {
  const sent = { host: `${section}.localhost`, authorization: `Bearer ${token}` }
  return { method, path, headers: { ...sent, ...contentHeaders(body) }, body }
}

export function mixedRequests(bench: Bench): RequestSet {
  const sets = ['get', 'put', 'list', 'profile', 'events'].map((name) => buildRequests(bench, name).requests)
  const requests = sets[0]!.flatMap((_, i) => sets.map((set) => set[i]!))
  return { name: 'mixed', agreement: 'mixed', form: 'rest', masked: [], requests }
}
