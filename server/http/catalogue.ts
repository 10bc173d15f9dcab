import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { normalizeHost } from './host-name.ts'
import { localHosts } from './local-paths.ts'
import type { BaseUrls } from './match-route.ts'
import type { State } from './state.ts'

interface Addresses {
  baseUrls: BaseUrls
  /** In the trial: paths of localhost. */
  localUrls?: BaseUrls | undefined
}

/**
 * The base URL of the error catalogue for a request: a path at hosts of APIs, which have it, else that of `apps`. `served`: the APIs
 * of the port.
 */
export function catalogueAt({ baseUrls, localUrls }: Addresses, served: readonly Section[] = sectionNames) {
  const apis = new Set(served.map((name) => normalizeHost(new URL(baseUrls[name]).host)))
  const locals = localHosts(localUrls)
  return ({ host, base = '/v1' }: Pick<State, 'host' | 'base'>): string => {
    const name = normalizeHost(host)
    if (apis.has(name)) return base
    return (localUrls && locals.has(name) ? localUrls : baseUrls).apps
  }
}
