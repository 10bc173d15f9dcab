import type { Bench } from './database.ts'
import type { Request, RequestSet } from './load-process.ts'
import type { BenchedRoute, Tenant } from './routes.ts'

/** The requests of a route as apps send them: by every tenant in turn. */
export function restRequests(bench: Bench, name: string, route: BenchedRoute): RequestSet {
  const { method, path, body, section = 'apps', form = 'rest', masked = [] } = route
  const request = ({ token }: Tenant, i: number) => requestOf(token, section, method, path(i), body)
  const requests = byTenants(callersOf(bench, route), request, route.each)
  return { name, agreement: name, form, masked, requests }
}

/** The same over tRPC. */
export function trpcRequests(bench: Bench, name: string, route: BenchedRoute): RequestSet {
  const { method, section = 'apps', masked = [] } = route
  const { path, input } = route.procedure!
  const request = ({ token }: Tenant, i: number) => {
    const text = input && JSON.stringify(input(i))
    if (method !== 'GET') return requestOf(token, section, 'POST', `/trpc/${path}`, text)
    return requestOf(token, section, 'GET', `/trpc/${path}${text ? `?input=${encodeURIComponent(text)}` : ''}`)
  }
  const requests = byTenants(callersOf(bench, route), request, route.each)
  return { name: `trpc-${name}`, agreement: name, form: 'trpc', masked, requests }
}

function callersOf({ platform, learners, developers, tenants }: Bench, { internal, section }: BenchedRoute) {
  if (internal) return [platform]
  return section === 'lms' ? learners : section === 'notify' ? developers : tenants
}

/** Requests of each tenant in a set, where a route says nothing else. */
export const EACH = 10

/** In the same order for every set, so that the i-th requests of two sets ask for the same. */
export function byTenants(
  tenants: readonly Tenant[],
  request: (tenant: Tenant, i: number) => Request,
  each = EACH,
): Request[] {
  const all = tenants.flatMap((tenant, n) => Array.from({ length: each }, (_, i) => request(tenant, n * each + i)))
  return shuffled(all)
}

export function requestOf(token: string, section: string, method: string, path: string, body?: string): Request {
  const sent = { host: `${section}.localhost`, authorization: `Bearer ${token}` }
  if (body === undefined) return { method, path, headers: sent, body }
  const content = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return { method, path, headers: { ...sent, ...content }, body }
}

/** Distributes a tenant's requests over a round, in the same order in each run. */
function shuffled<T>(list: T[]): T[] {
  const order = list.map((item, i) => ({ item, at: (i * 7_919) % 104_729 }))
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item)
}
