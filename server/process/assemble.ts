import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { parseUrl } from '../../prisma/parse-url.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { Brand } from '../browser/brand.ts'
import { browserPages } from '../browser/browser-pages.ts'
import { gallery } from '../browser/look/gallery/gallery.ts'
import type { DocsSource } from '../docs/docs.ts'
import { openDocs } from '../docs/open.ts'
import { packages } from '../docs/packages.ts'
import { docs } from '../docs/serve.ts'
import type { HttpParts } from '../http/app.ts'
import type { ClientAddress } from '../http/client-address.ts'
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts'
import { limitFailures } from '../http/failed-authentications.ts'
import { LongPollSlots } from '../http/long-poll-slots.ts'
import { MemoryBudget } from '../http/memory-budget.ts'
import { peopleLimit } from '../http/people-limit.ts'
import { rateLimit } from '../http/rate-limit.ts'
import type { Limits } from '../limits/limit.ts'
import { mcp } from '../mcp/endpoint.ts'
import { reference } from '../reference/serve.ts'
import { openRequestLog } from '../request-log/request-log.ts'
import { search } from '../search/serve.ts'
import { httpMetrics } from '../telemetry/http-metrics.ts'
import { replayMetrics } from '../telemetry/mail-metrics.ts'
import { createAuthenticate } from '../tokens/authenticate.ts'
import type { TrustedIssuer } from '../tokens/verify.ts'
import type { OwnIssuer, SignIn } from './own-issuer.ts'
import { openOwnIssuer } from './own-issuer.ts'

type Addresses = Pick<HttpParts, 'baseUrls' | 'localUrls' | 'internalNames'> & { authBaseUrl: string }

export interface Given<Issuers> extends Addresses, Pick<HttpParts, 'tracing' | 'ready' | 'example'> {
  core: Core
  log: Logger
  limits: Limits
  registry: Registry
  readClientAddress: ClientAddress
  pageBrand: Brand
  docs: DocsSource
  /** How members sign in at the authorization server; undefined with an external issuer. */
  signIn: SignIn | undefined
  trust: (own: OwnIssuer | null) => Promise<Issuers>
  trial?: { example: () => string | undefined; referenceClient: () => string | undefined; trpcUrl: string } | undefined
  limited?: Parameters<typeof rateLimit>[1]
  /** In place of the production limits. */
  more?: {
    shares?: ConcurrencyLimit | undefined
    peopleWaitMs?: number | undefined
    /** How long the request log buffers before it writes. */
    logWriteMs?: number
    limitsFailedAuthentications?: boolean
    /** Elapsed milliseconds, for that limit. */
    passed?: () => number
  }
}

/** Assembles the service: authorization server, portal, pages, and what both ports need. */
export async function assemble<Issuers extends { trusted: readonly TrustedIssuer[] }>(given: Given<Issuers>) {
  const { core, log, limits, registry, readClientAddress, pageBrand, signIn, trial, more = {} } = given
  const { baseUrls, localUrls, authBaseUrl } = given
  const memory = new MemoryBudget()
  const countPeople = peopleLimit(limits, more.peopleWaitMs)
  const requestLog = openRequestLog({
    db: core.db,
    cipher: core.cipher,
    failed: (err, lines) => log.warn({ err, lines }, 'request log: dropped'),
    ...(more.logWriteMs !== undefined && { writeMs: more.logWriteMs }),
  })
  const oauth = signIn
    ? await openOwnIssuer(signIn, {
        core,
        limits,
        memory,
        countPeople,
        readClientAddress,
        authBaseUrl,
        baseUrls,
        localUrls,
        replayed: replayMetrics(registry),
        signInFailed: requestLog.signInFailed,
      })
    : null
  const issuer = oauth ? toIssuer(authBaseUrl) : undefined
  const localIssuer = oauth && localUrls ? toIssuer(localUrls.auth) : undefined
  const issuers = await given.trust(oauth)
  const external = issuers.trusted
    .map(({ issuer }) => issuer)
    .find((name) => parseUrl(name) && !name.startsWith('urn:'))
  const authenticate = createAuthenticate(issuers.trusted, core.now)
  const toPortalUrl = (issuer: string | undefined) => issuer && `${issuer}/developers`
  const pages = openDocs(given.docs)
  const named = { appsHost: new URL(baseUrls.apps).host, paths: localUrls, trpc: trial?.trpcUrl }
  const ways = {
    ...named,
    urls: { ...baseUrls, auth: issuer && authBaseUrl },
    issuer: issuer ?? external,
    portal: toPortalUrl(issuer),
  }
  const localWays = localUrls && {
    ...named,
    urls: localUrls,
    issuer: localIssuer ?? external,
    portal: toPortalUrl(localIssuer),
  }
  const parts: HttpParts = {
    core,
    log,
    baseUrls,
    authBaseUrl,
    localUrls,
    internalNames: given.internalNames ?? [],
    authenticate:
      more.limitsFailedAuthentications === false
        ? authenticate
        : limitFailures(authenticate, readClientAddress, limits, more.passed),
    consumeQuota: rateLimit(limits, given.limited, more.shares),
    countPeople,
    requestLog,
    memory,
    longPollSlots: new LongPollSlots(),
    issuer,
    localIssuer,
    tracing: given.tracing,
    metrics: { http: httpMetrics(registry), registry },
    pages: browserPages({
      baseUrls,
      issuer,
      brand: pageBrand,
      portal: toPortalUrl(issuer),
      trial: trial && (() => ({ example: trial.example() })),
    }),
    reference: reference({
      baseUrls,
      localUrls,
      issuer,
      localIssuer,
      brand: core.brand,
      pageBrand,
      client: () => trial?.referenceClient(),
      guides: pages.guides,
      ways,
      localWays,
      readCode: pages.readCode,
    }),
    search: search(pages, {
      ways,
      localWays,
      brand: core.brand,
      pageBrand,
      limits,
      readClientAddress,
    }),
    docs: docs(pages, {
      brand: pageBrand,
      ways,
      localWays,
    }),
    gallery: trial && gallery(core.now),
    packages: packages(),
    resources: { baseUrls, localUrls, issuer: issuer ?? external, localIssuer: localIssuer ?? issuer ?? external },
    oauth: oauth?.steps,
    ready: given.ready,
    example: given.example,
  }
  return { parts: { ...parts, mcp: mcp(parts) }, oauth, issuers }
}
