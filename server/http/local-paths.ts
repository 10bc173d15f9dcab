import { sectionNames } from '../../routers/kernel/scopes.ts'
import { normalizeHost } from './host-name.ts'
import type { BaseUrls } from './match-route.ts'
import { RESOURCE_PATH } from './resource-metadata.ts'
import type { Step } from './state.ts'

/** Names that always mean this machine: a page of another site cannot have its own name resolve here and use them. */
const HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The names at which a trial has the paths of its APIs. */
export const localHosts = (localUrls?: BaseUrls): ReadonlySet<string> =>
  new Set(localUrls && [...HOSTS, normalizeHost(new URL(localUrls.apps).host)])

/**
 * In the trial, `/apps/v1/me/profile` at localhost is `/v1/me/profile` at the API's host, for programs that cannot resolve
 * *.localhost. Everything else is the same.
 */
export function localPaths(baseUrls: BaseUrls, localUrls: BaseUrls): Step {
  const hosts = localHosts(localUrls)
  const apis = sectionNames.map((name) => ({
    host: new URL(baseUrls[name]).host,
    path: new URL(localUrls[name]).pathname,
  }))
  return ({ state, req }, next) => {
    const prefix = state.path.startsWith(`${RESOURCE_PATH}/`) ? RESOURCE_PATH : ''
    const below = state.path.slice(prefix.length)
    const api = hosts.has(normalizeHost(state.host)) && apis.find(({ path }) => `${below}/`.startsWith(`${path}/`))
    if (api) {
      state.host = api.host
      state.base = api.path
      state.path = `${prefix}/v1${below.slice(api.path.length)}`
      req.url = `${state.path}${state.search && `?${state.search}`}`
    }
    return next()
  }
}
