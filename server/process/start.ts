import type { Logger } from 'pino'
import { isEmpty, moveDemoEvents, seed } from '../../prisma/seed.ts'
import { checkSessions } from '../../prisma/session-limits.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import { createCore } from '../../routers/core.ts'
import { readFinished } from '../../routers/kernel/housekeeping.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { issuerOf } from '../browser/addresses.ts'
import type { Brand } from '../browser/brand.ts'
import { browserPages } from '../browser/browser-pages.ts'
import type { HttpParts } from '../http/app.ts'
import { createPublicApp } from '../http/app.ts'
import { clientAddress } from '../http/client-address.ts'
import { corsHeaders } from '../http/cors.ts'
import { limitFailures } from '../http/failed-authentications.ts'
import { listen } from '../http/listen.ts'
import { MemoryBudget } from '../http/memory-budget.ts'
import { peopleLimit } from '../http/people-limit.ts'
import { rateLimit } from '../http/rate-limit.ts'
import { refusalOfRawName } from '../http/raw-name.ts'
import type { Limits } from '../limits/limit.ts'
import { memoryLimits } from '../limits/memory.ts'
import { openRedisLimits } from '../limits/redis.ts'
import { reference } from '../reference/serve.ts'
import { openRequestLog } from '../request-log/request-log.ts'
import { openSecrets } from '../secrets/keys.ts'
import { watchSecretsKey } from '../secrets/watch.ts'
import { addClockGauge } from '../telemetry/clock-metrics.ts'
import { addDeliveryGauges, addQueueGauges, deliveryMetrics } from '../telemetry/delivery-metrics.ts'
import { housekeepingMetrics } from '../telemetry/housekeeping-metrics.ts'
import { httpMetrics } from '../telemetry/http-metrics.ts'
import { limiterMetrics } from '../telemetry/limiter-metrics.ts'
import { outsideOfSpan } from '../telemetry/trace-context.ts'
import { createAuthenticate } from '../tokens/authenticate.ts'
import { createInternalApp } from '../trpc/app.ts'
import { dueFigures } from '../webhooks/due-figures.ts'
import { openWorker } from '../webhooks/open.ts'
import type { Worker } from '../webhooks/worker.ts'
import { readBrand } from './brand.ts'
import type { Config } from './config.ts'
import type { DatabaseClock } from './database-clock.ts'
import { openDatabaseClock } from './database-clock.ts'
import type { Cadence } from './housekeeping.ts'
import { cadence, housekeepingTasks, startHousekeeping } from './housekeeping.ts'
import { auditLog } from './log.ts'
import type { Observed } from './observe.ts'
import { observe } from './observe.ts'
import { openOwnIssuer } from './own-issuer.ts'
import { registerRedirects } from './redirects.ts'
import { mountSampleApp, registerSampleApp } from './sample-app.ts'
import { addServiceGauges } from './service-metrics.ts'
import type { Store } from './store.ts'
import { openStore } from './store.ts'
import { isTrial, trialUrls } from './trial.ts'
import { openTrustedIssuers } from './trusted-issuers.ts'
import { serviceWarnings } from './warnings.ts'

/** For requests in flight when the service stops. */
export const GRACE_MS = 8_000

/** Bounds the log line of an event with many deliveries; each has lines of its own later. */
const LOGGED_DELIVERIES = 100

/** What a test replaces. */
interface Clockwork {
  /** Those of production by default. */
  timeLimits?: TimeLimits
  /** Unix time in milliseconds; by the database's clock by default. */
  now?: () => number
  /** In place of `GRACE_MS`. */
  graceMs?: number
  housekeeping?: Cadence
}

/**
 * Starts the service on both ports. A new embedded database gets the demo data, unless in production; in an older one its
 * events move to today. `close` ends the service: not ready at once, serving on for the drain, its database last.
 */
export async function startService(
  config: Config,
  log: Logger,
  { timeLimits = productionLimits, now: given, graceMs = GRACE_MS, housekeeping = cadence }: Clockwork = {},
) {
  const brand = readBrand(config.pageBrand)
  for (const sentence of serviceWarnings(config)) log.warn(sentence)
  const observed = await observe(config, 'member-apps-api', log)
  const store = await openStore(config, (error) => log.warn({ err: error }, 'a database connection broke'), {
    warn: (sentence) => log.warn(sentence),
    observer: observed.pool,
    timeLimits,
  })
  let limits: Limits | undefined
  let clock: DatabaseClock | undefined
  try {
    clock = given ? undefined : await openDatabaseClock(store.db, { log })
    const now = given ?? clock!.now
    for (const sentence of await checkSessions(store.db, timeLimits)) log.warn(sentence)
    if (store.embedded && !config.production) {
      const today = new Date(now())
      await ((await isEmpty(store.db)) ? seed(store.db, today, memberScopesAt) : moveDemoEvents(store.db, today))
    }
    limits = await openLimits(config, log)
    return await serve(config, { store, limits, timeLimits, clock, now, graceMs, housekeeping, observed, brand }, log)
  } catch (error) {
    clock?.close()
    await limits?.close()
    await store.close()
    throw error
  }
}

const openLimits = async ({ redisUrl: url, nodes }: Config, log: Logger): Promise<Limits> =>
  url === undefined ? memoryLimits() : openRedisLimits({ url, nodes, log })

interface Opened {
  store: Store
  limits: Limits
  timeLimits: TimeLimits
  clock: DatabaseClock | undefined
  now: () => number
  graceMs: number
  housekeeping: Cadence
  observed: Observed
  brand: Brand
}

async function serve(
  config: Config,
  { store, limits, timeLimits, clock, now, graceMs, housekeeping, observed, brand }: Opened,
  log: Logger,
) {
  const { registry, tracing } = observed
  let ending = false
  const limiter = limiterMetrics(registry, config.redisUrl === undefined ? undefined : limits)
  const { keys, cipher } = await openSecrets(config, store.db)
  let worker: Worker | null = null
  const core = createCore({
    db: store.db,
    now,
    cipher,
    brand: config.brand,
    storageQuotaBytes: config.storageQuotaBytes,
    timeLimits,
    published({ app, event, deliveries }) {
      log.info(
        { app, event, count: deliveries.length, deliveries: deliveries.slice(0, LOGGED_DELIVERIES) },
        'published',
      )
      outsideOfSpan(() => worker?.wake())
    },
    removed: (removal, more) => auditLog(log).info({ ...removal, ...more }, 'removed'),
  })
  const hasKey = watchSecretsKey({ db: store.db, cipher, log, now })
  const addressOf = clientAddress(config.trustedProxies)
  const memory = new MemoryBudget()
  const countPeople = peopleLimit(limits)
  const own = { core, keys, addressOf, limits, memory, countPeople, log }
  const oauth = config.tokenIssuer === undefined ? await openOwnIssuer(config, store, own) : null
  const issuer = issuerOf(config.authBaseUrl)
  const trial = isTrial(config) ? trialUrls(config) : undefined
  const example = trial && mountSampleApp(config.baseUrls.apps, issuer)
  let exampleUrl: string | undefined
  let referenceClient: string | undefined
  const pages = browserPages({
    baseUrls: config.baseUrls,
    issuer: oauth ? issuer : undefined,
    portal: oauth ? `${issuer}/developers` : undefined,
    brand,
    trial: trial && (() => ({ example: exampleUrl })),
  })
  const issuers = await openTrustedIssuers(config, oauth, { db: store.db, now, log, issuerMs: timeLimits.issuerMs })
  addServiceGauges(registry, {
    db: store.db,
    memory,
    signsSince: () => oauth?.signsSince(),
    issuerReadAt: issuers.readAt,
    now,
  })
  addQueueGauges(registry, () => dueFigures(store.db, now()))
  if (clock) addClockGauge(registry, clock.aheadSeconds)
  const requestLog = openRequestLog({
    db: store.db,
    failed: (err, lines) => log.warn({ err, lines }, 'request log: dropped'),
  })
  const parts: HttpParts = {
    core,
    log,
    baseUrls: config.baseUrls,
    authBaseUrl: config.authBaseUrl,
    localUrls: trial?.local,
    internalNames: config.internalNames,
    authenticate: limitFailures(createAuthenticate(issuers.trusted, now), addressOf, limits),
    consumeQuota: rateLimit(limits, limiter.refused),
    countPeople,
    requestLog,
    memory,
    metrics: { http: httpMetrics(registry), registry },
    tracing,
    pages,
    reference: reference({
      baseUrls: config.baseUrls,
      localUrls: trial?.local,
      issuer: oauth ? issuer : undefined,
      brand: config.brand,
      pageBrand: brand,
      client: () => referenceClient,
    }),
    oauth: oauth?.step,
    issuer: oauth ? issuer : undefined,
    async ready(withoutDatabase = false) {
      if (ending || !issuers.ready()) return false
      return (await store.db.isReady()) ? hasKey() : withoutDatabase
    },
    example,
  }
  // Connects, so that the first check does not wait for that.
  await store.db.isReady()
  const publicPort = await listen(createPublicApp(parts), config.port, {
    setting: 'PORT',
    host: config.host,
    headers: corsHeaders,
    refusalOf: refusalOfRawName,
  })
  const internalPort = await listen(createInternalApp(parts), config.internalPort, {
    setting: 'INTERNAL_PORT',
    host: config.internalHost,
  }).catch(async (error) => {
    await publicPort.close(0)
    throw error
  })

  if (example && (await registerSampleApp(store.db, trial.example))) exampleUrl = trial.example
  if (trial && (await registerRedirects(store.db, 'reference', trial.reference))) referenceClient = 'reference'
  if (config.webhooks.worker) {
    const metrics = deliveryMetrics(registry)
    worker = openWorker(config.webhooks, { db: store.db, cipher, now, log, metrics, tracing })
    addDeliveryGauges(registry, worker.figures)
  }
  const tasks = housekeepingTasks(config, cipher)
  const { removed } = housekeepingMetrics(registry, () => readFinished(store.db))
  const stopHousekeeping = startHousekeeping({ db: store.db, now, tasks, log, removed, ...housekeeping })

  return {
    store,
    publicPort: publicPort.port,
    internalPort: internalPort.port,
    localUrls: trial?.local,
    exampleUrl,
    async close() {
      ending = true
      const closed = [publicPort, internalPort].map((port) => port.close(graceMs, config.drainMs))
      await Promise.all([...closed, worker?.close(), stopHousekeeping()])
      await requestLog.close()
      oauth?.close()
      issuers.close()
      await limits.close()
      clock?.close()
      await store.close()
      await tracing?.close()
    },
  }
}
