import type { BaseUrls } from '../http/match-route.ts'
import { isLoopback } from '../tokens/loopback.ts'
import type { Config } from './config.ts'

/** The embedded database and our own tokens: a first look, or a developer's machine. */
export const isTrial = ({ databaseUrl, production, tokenIssuer }: Config) =>
  databaseUrl === undefined && !production && tokenIssuer === undefined

/** Addresses of the trial beside the base URLs. */
export interface TrialUrls {
  /** Of the APIs, for programs that cannot resolve *.localhost. */
  local: BaseUrls
  /** Of the sample app. */
  example: string
  /** Of the reference pages, at which the demo client `reference` signs in. */
  reference: string[]
}

/** At the port of APPS_BASE_URL if that is an address of this machine, else at the public port. */
export function trialUrls({ baseUrls, port }: Config): TrialUrls {
  const apps = new URL(baseUrls.apps)
  const isHere = apps.protocol === 'http:' && isLoopback(apps.hostname)
  const at = (host: string, path: string) => new URL(`http://${host}:${isHere ? apps.port || 80 : port}${path}`).href
  const local = {
    apps: at('localhost', '/apps/v1'),
    lms: at('localhost', '/lms/v1'),
    notify: at('localhost', '/notify/v1'),
  }
  return {
    local,
    example: at('example.localhost', '/'),
    reference: [...Object.values(baseUrls), ...Object.values(local)].map((url) => `${url}/docs`),
  }
}
