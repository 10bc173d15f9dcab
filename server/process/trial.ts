import { isIPv6 } from 'node:net'
import { sampleApp } from '../../examples/third-party/serve.ts'
import type { Database } from '../../prisma/client.ts'
import { statement, text, texts } from '../../prisma/pg/statement.ts'
import { toIssuer } from '../browser/addresses.ts'
import { normalizeHost } from '../http/host-name.ts'
import type { BaseUrls, LocalUrls } from '../http/match-route.ts'
import type { Step } from '../http/state.ts'
import { isLoopback } from '../tokens/loopback.ts'
import type { Config } from './config.ts'
import { toTrpcUrl } from './trpc-url.ts'

const SAMPLE_HOST = 'example.localhost'
const SAMPLE_CLIENT = 'example-app'

/** Serves the sample app at its own host; undefined when the package came without it. */
function mountSampleApp({ apps: api, sync }: BaseUrls, issuer: string): Step | undefined {
  const handle = sampleApp({ api, sync, issuer, clientId: SAMPLE_CLIENT })
  if (!handle) return undefined
  return (ctx, next) => {
    if (normalizeHost(ctx.state.host) !== SAMPLE_HOST) return next()
    ctx.respond = false
    ctx.state.address = ctx.state.path
    return handle(ctx.req, ctx.res, () => {
      ctx.respond = true
      delete ctx.state.address
      return next()
    })
  }
}

const register = statement(
  'client_redirects',
  `UPDATE "Client" SET "redirectUris" = "redirectUris" ||
      ARRAY(SELECT address FROM unnest($addresses::text[]) AS address WHERE address <> ALL(coalesce("redirectUris", '{}'))),
    "postLogoutRedirectUris" = "postLogoutRedirectUris" ||
      ARRAY(SELECT address FROM unnest($afterSignOut::text[]) AS address WHERE address <> ALL("postLogoutRedirectUris"))
  WHERE id = $id RETURNING id`,
  { id: text, addresses: texts, afterSignOut: texts },
  { id: text },
)

/** Registers a demo client's redirects; false when the client has been removed. Redirects of services at other ports stay. */
const registerRedirects = async (
  db: Database,
  id: string,
  addresses: readonly string[],
  afterSignOut: readonly string[] = [],
): Promise<boolean> => (await db.execute(register, { id, addresses, afterSignOut })).length > 0

/** The embedded database and the service's own tokens: a first look, or a developer's machine. */
const isTrial = ({ databaseUrl, production, tokenIssuer }: Config) =>
  databaseUrl === undefined && !production && tokenIssuer === undefined

interface TrialUrls {
  /** Addresses for programs that cannot resolve *.localhost. */
  local: LocalUrls
  example: string
  /** The reference pages, at which the demo client `reference` signs in. */
  reference: string[]
}

/** At the port of APPS_BASE_URL if that is an address of this machine, else at the public port. */
function trialUrls({ baseUrls, port, localHost }: Config): TrialUrls {
  const apps = new URL(baseUrls.apps)
  const isHere = apps.protocol === 'http:' && isLoopback(apps.hostname)
  const at = (host: string, path: string) => new URL(`http://${host}:${isHere ? apps.port || 80 : port}${path}`).href
  const here = isIPv6(localHost) ? `[${localHost}]` : localHost
  const local = {
    apps: at(here, '/apps/v1'),
    lms: at(here, '/lms/v1'),
    notify: at(here, '/notify/v1'),
    sync: at(here, '/sync/v1'),
    auth: at(here, '/auth/v1'),
  }
  return {
    local,
    example: at('example.localhost', '/'),
    reference: [...Object.values(baseUrls), local.apps, local.lms, local.notify, local.sync].map(
      (url) => `${url}/docs`,
    ),
  }
}

export function openTrial(config: Config) {
  if (!isTrial(config)) return undefined
  const urls = trialUrls(config)
  const step = mountSampleApp(config.baseUrls, toIssuer(config.authBaseUrl))
  let example: string | undefined
  let referenceClient: string | undefined
  return {
    urls,
    trpcUrl: toTrpcUrl(config.internalHost, config.internalPort),
    step,
    /** The sample app's address and the reference pages' client, once they are registered. */
    example: () => example,
    referenceClient: () => referenceClient,
    /** Skips clients that have been removed. */
    async register(db: Database) {
      if (step && (await registerRedirects(db, SAMPLE_CLIENT, [urls.example], [urls.example]))) example = urls.example
      if (await registerRedirects(db, 'reference', urls.reference)) referenceClient = 'reference'
    },
  }
}
