import Koa from 'koa'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { restFacade } from '../../rest-facade/facade.ts'
import type { Route } from '../../rest-facade/routes.ts'
import type { Core } from '../../routers/kernel/context.ts'
import type { RequestLog } from '../request-log/request-log.ts'
import type { HttpMetrics } from '../telemetry/http-metrics.ts'
import type { Tracing } from '../telemetry/trace-context.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { catalogueAt } from './catalogue.ts'
import { cors } from './cors.ts'
import { documents } from './documents.ts'
import { EVENTS_TYPE, sendEvents } from './event-stream.ts'
import type { Ready } from './health.ts'
import { normalizeHost } from './host-name.ts'
import { localPaths } from './local-paths.ts'
import type { LongPollSlots } from './long-poll-slots.ts'
import type { BaseUrls, LocalUrls } from './match-route.ts'
import { matchRoute } from './match-route.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { CallParts } from './open-call.ts'
import { openCall } from './open-call.ts'
import type { PeopleLimit } from './people-limit.ts'
import type { Resources } from './protected-resource.ts'
import { protectedResources } from './protected-resource.ts'
import type { ConsumeQuota } from './rate-limit.ts'
import { recordIn } from './record.ts'
import { readTarget } from './request-target.ts'
import { resourceMetadata } from './resource-metadata.ts'
import { forbidStoring, forbidTransforming, respond } from './respond.ts'
import { isKnown } from './revalidation.ts'
import { JSON_TYPE, koaSends } from './send.ts'
import type { State, Step, StepContext } from './state.ts'
import { operationName, readPath } from './state.ts'

function traceRequests(tracing: Tracing): Step {
  return ({ method, req, state, response }, next) =>
    tracing.request({ method, traceparent: req.headers.traceparent }, next, () => ({
      operation: operationName(state),
      route: readPath(state),
      status: state.refusal?.status ?? state.response?.status ?? response.status,
    }))
}

/** RFC 6797. Browsers then use only https for this host for a year, whatever a link says. */
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000']

/** Only for hosts of `urls` that use https. */
function strictTransport(urls: readonly string[]): Step {
  const secure = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:')
  const names = new Set(secure.map(({ host }) => normalizeHost(host)))
  return (ctx, next) => {
    if (names.size > 0 && names.has(normalizeHost(ctx.state.host))) ctx.state.headers.push(...STRICT_TRANSPORT)
    return next()
  }
}

/** The parts of the HTTP ports; tests inject their own clock, keys and limits. */
export interface HttpParts {
  core: Core
  baseUrls: BaseUrls
  authBaseUrl?: string
  /** The APIs' additional addresses, in the trial: paths of localhost. */
  localUrls?: LocalUrls | undefined
  /** Additional host names allowed for the internal port, besides private ones. */
  internalNames?: readonly string[]
  authenticate: Authenticate
  consumeQuota: ConsumeQuota
  countPeople: PeopleLimit
  requestLog: RequestLog
  memory: MemoryBudget
  longPollSlots: LongPollSlots
  log: Logger
  ready: Ready
  metrics: {
    http: HttpMetrics
    registry: Registry
  }
  /** Undefined when tracing is off. */
  tracing?: Tracing | undefined
  pages?: Step | undefined
  reference?: Step | undefined
  search?: Step | undefined
  docs?: Step | undefined
  /** The gallery of components, in the trial. */
  gallery?: Step | undefined
  packages?: Step | undefined
  /** The authorization server and its address, unless an external issuer is configured. */
  oauth?: readonly Step[] | undefined
  issuer?: string | undefined
  /** The issuer at the additional addresses. */
  localIssuer?: string | undefined
  resources: Resources
  /** The endpoints as tools of assistants. */
  mcp?: Step | undefined
  example?: Step | undefined
}

export function createPublicApp({
  core,
  baseUrls,
  authBaseUrl,
  localUrls,
  authenticate,
  consumeQuota,
  requestLog,
  memory,
  longPollSlots,
  log,
  metrics,
  tracing,
  pages,
  reference,
  search,
  docs,
  gallery,
  packages,
  oauth,
  issuer,
  localIssuer,
  resources,
  mcp,
  example,
}: HttpParts) {
  const app = createKoa(log, tracing)
    .use(
      respond(
        log,
        core.now,
        metrics.http,
        resourceMetadata(resources),
        catalogueAt(resources),
        recordIn(requestLog, authenticate),
      ),
    )
    .use(cors)
    .use(readTarget)
    .use(strictTransport([...Object.values(baseUrls), ...(authBaseUrl ? [authBaseUrl] : [])]))
  if (localUrls) app.use(localPaths(baseUrls, localUrls))
  app.use(matchRoute(baseUrls)).use(endpoint(core, { authenticate, consumeQuota, memory, longPollSlots }))
  if (mcp) app.use(mcp)
  app.use(koaSends)
  app.use(protectedResources(resources))
  if (reference) app.use(reference)
  if (search) app.use(search)
  if (docs) app.use(docs)
  if (gallery) app.use(gallery)
  if (packages) app.use(packages)
  if (pages) app.use(pages)
  for (const step of oauth ?? []) app.use(step)
  if (example) app.use(example)
  return app.use(documents({ brand: core.brand, baseUrls, localUrls, issuer, localIssuer }))
}

/** Without Koa's error output and without trust in X-Forwarded-*; with a span for each request if tracing is on. */
export function createKoa(log: Logger, tracing: Tracing | undefined): Koa<State> {
  const app = new Koa<State>({ proxy: false })
  app.silent = true
  app.on('error', (error) => log.debug({ err: error }, 'the client disconnected'))
  return tracing ? app.use(traceRequests(tracing)) : app
}

const wantsEvents = (ctx: StepContext, { stream }: Route) =>
  stream && ctx.method === 'GET' && ctx.accepts(JSON_TYPE, EVENTS_TYPE) === EVENTS_TYPE

/** `headers` has names and values alternately. */
const etagIn = (headers: readonly string[]) => headers.find((_, i) => headers[i - 1] === 'ETag')

function endpoint(core: Core, parts: CallParts & Pick<HttpParts, 'authenticate'>): Step {
  const facade = restFacade(core)
  return async (ctx, next) => {
    const { state } = ctx
    if (!state.route) return next()
    const principal = await parts.authenticate(ctx.req)
    state.principal = principal
    const { body, caller, rendered } = openCall(ctx, principal, parts)
    const given = { body, segments: state.segments, search: state.search }
    if (wantsEvents(ctx, state.route)) {
      const events = await facade.events(state.route, given, caller)
      forbidStoring(state)
      return sendEvents(ctx, events)
    }
    try {
      state.response = await facade.call(state.route, given, caller)
    } finally {
      rendered(state.response?.body?.length ?? 0)
    }
    // Set only now: a response that gets no memory is a 503, which must not have an entry's headers.
    const { headers = [] } = state.response
    state.headers.push(...headers)
    const etag = etagIn(headers)
    if (etag !== undefined) forbidTransforming(state)
    if (isKnown(ctx, etag)) state.response = { status: 304, body: undefined }
  }
}
