import type { Bench } from './database.ts'
import type { RequestSet } from './load-process.ts'
import { restRequests } from './requests.ts'
import { routes } from './routes.ts'

const KINDS = ['get', 'put', 'list', 'profile', 'events']

/** A mixed load that cycles through the kinds of requests. */
export function mixedRequests(bench: Bench): RequestSet {
  const sets = KINDS.map((name) => restRequests(bench, name, routes[name]!).requests)
  const requests = sets[0]!.flatMap((_, i) => sets.map((set) => set[i]!))
  return { name: 'mixed', agreement: 'mixed', form: 'rest', masked: [], requests }
}
