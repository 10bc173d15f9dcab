import type { Database } from '../../prisma/client.ts'
import { issuerOf } from '../browser/addresses.ts'
import type { BaseUrls } from '../http/match-route.ts'
import { isLoopback } from '../tokens/loopback.ts'
import type { Config } from './config.ts'
import { registerRedirects } from './redirects.ts'
import { mountSampleApp, SAMPLE_CLIENT } from './sample-app.ts'

/** The embedded database and our own tokens: a first look, or a developer's machine. */
const isTrial = ({ databaseUrl, production, tokenIssuer }: Config) =>
  databaseUrl === undefined && !production && tokenIssuer === undefined

/** Addresses of the trial beside the base URLs. */
interface TrialUrls {
  /** Of the APIs, for programs that cannot resolve *.localhost. */
  local: BaseUrls
  /** Of the sample app. */
  example: string
  /** Of the reference pages, at which the demo client `reference` signs in. */
  reference: string[]
}

/** At the port of APPS_BASE_URL if that is an address of this machine, else at the public port. */
function trialUrls({ baseUrls, port }: Config): TrialUrls {
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

/** What the trial has beside the service; undefined where this is none. */
export function openTrial(config: Config) {
  if (!isTrial(config)) return undefined
  const urls = trialUrls(config)
  const step = mountSampleApp(config.baseUrls.apps, issuerOf(config.authBaseUrl))
  let example: string | undefined
  let referenceClient: string | undefined
  return {
    urls,
    step,
    /** The address of the sample app, and the client of the reference pages, once they are registered. */
    example: () => example,
    referenceClient: () => referenceClient,
    /** Leaves out what has been removed. */
    async register(db: Database) {
      if (step && (await registerRedirects(db, SAMPLE_CLIENT, [urls.example]))) example = urls.example
      if (await registerRedirects(db, 'reference', urls.reference)) referenceClient = 'reference'
    },
  }
}
