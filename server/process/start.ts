import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { isEmpty, moveDemoEvents, seed } from '../../prisma/seed.ts'
import { checkSessions } from '../../prisma/session-limits.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import { createCore } from '../../routers/core.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { readFinished } from '../../routers/kernel/housekeeping.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { issuerOf } from '../browser/addresses.ts'
import type { Brand } from '../browser/brand.ts'
import type { SendMail } from '../browser/login/mail.ts'
import { builtDocs } from '../docs/built.ts'
import { clientAddress } from '../http/client-address.ts'
import type { Limits } from '../limits/limit.ts'
import { memoryLimits } from '../limits/memory.ts'
import { openRedisLimits } from '../limits/redis.ts'
import { openSecrets } from '../secrets/keys.ts'
import { watchSecretsKey } from '../secrets/watch.ts'
import { addClockGauge } from '../telemetry/clock-metrics.ts'
import { addDeliveryGauges, addQueueGauges, deliveryMetrics } from '../telemetry/delivery-metrics.ts'
import { housekeepingMetrics } from '../telemetry/housekeeping-metrics.ts'
import { limiterMetrics } from '../telemetry/limiter-metrics.ts'
import { dueFigures } from '../webhooks/due-figures.ts'
import { openWorker } from '../webhooks/open.ts'
import { assemble } from './assemble.ts'
import { readBrand } from './brand.ts'
import type { Config } from './config.ts'
import type { DatabaseClock } from './database-clock.ts'
import { openDatabaseClock } from './database-clock.ts'
import type { Cadence } from './housekeeping.ts'
import { cadence, housekeepingTasks, startHousekeeping } from './housekeeping.ts'
import { auditLog } from './log.ts'
import { signInOf } from './login.ts'
import { openMailer } from './mailer.ts'
import { openNodeWakes } from './node-wakes.ts'
import type { Observed } from './observe.ts'
import { observe } from './observe.ts'
import { openPorts } from './ports.ts'
import { addServiceGauges } from './service-metrics.ts'
import { stoppedLine } from './stopped-line.ts'
import type { Store } from './store.ts'
import { openStore } from './store.ts'
import { openTrial } from './trial.ts'
import { openTrustedIssuers } from './trusted-issuers.ts'
import { serviceWarnings } from './warnings.ts'

export const GRACE_MS = 8_000

/** Limits the log line of an event with many deliveries; each gets its own lines later. */
const LOGGED_DELIVERIES = 100

interface Overrides {
  timeLimits?: TimeLimits
  /** Unix time in milliseconds; by default from the database's clock. */
  now?: () => number
  graceMs?: number
  housekeeping?: Cadence
}

/**
 * Starts the service on both ports. A new embedded database gets the demo data, unless in production; in an existing one, the
 * demo events move to today. `close` stops the service: not ready at once, serving on for the drain, its database last.
 */
export async function startService(
  config: Config,
  log: Logger,
  { timeLimits = productionLimits, now: given, graceMs = GRACE_MS, housekeeping = cadence }: Overrides = {},
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

async function serve(config: Config, opened: Opened, log: Logger) {
  const { store, limits, timeLimits, clock, now, graceMs, housekeeping, observed, brand } = opened
  const { registry, tracing } = observed
  let ending = false
  const limiter = limiterMetrics(registry, config.redisUrl === undefined ? undefined : limits)
  const { keys: secretsKeys, cipher } = await openSecrets(config, store.db)
  const core = createCore({
    db: store.db,
    now,
    cipher,
    brand: config.brand,
    storageQuotaBytes: config.storageQuotaBytes,
    timeLimits,
    ...observedBy(log),
  })
  const hasKey = watchSecretsKey({ db: store.db, cipher, log, now })
  const trial = openTrial(config)
  const sendMail = await openMailer(config, registry, log)
  const { parts, oauth, issuers } = await assemble({
    core,
    log,
    limits,
    registry,
    tracing,
    pageBrand: brand,
    docs: builtDocs,
    addressOf: clientAddress(config.trustedProxies),
    baseUrls: config.baseUrls,
    authBaseUrl: config.authBaseUrl,
    localUrls: trial?.urls.local,
    internalNames: config.internalNames,
    signIn: await signInOf(config, store, { core, secretsKeys, limits, sendMail, log }),
    trust: (own) => openTrustedIssuers(config, own, { db: store.db, now, log, issuerMs: timeLimits.issuerMs }),
    trial,
    limited: limiter.refused,
    async ready(withoutDatabase = false) {
      if (ending || !issuers.ready()) return false
      return (await store.db.isReady()) ? hasKey() : withoutDatabase
    },
    example: trial?.step,
  })
  addServiceGauges(registry, {
    db: store.db,
    memory: parts.memory,
    longPollSlots: parts.longPollSlots,
    signsSince: () => oauth?.signsSince(),
    issuerReadAt: issuers.readAt,
    now,
  })
  addQueueGauges(registry, () => dueFigures(store.db, now()))
  if (clock) addClockGauge(registry, clock.aheadSeconds)
  // Connects, so that the first check does not wait for that.
  await store.db.isReady()
  const watches = { stores: core.watch, events: core.eventWatch, due: core.due }
  const wakes = await openNodeWakes({ db: store.db, url: store.url, redisUrl: config.redisUrl }, watches)
  const ports = await openPorts(parts, config)
  await trial?.register(store.db)
  const worker = startWorker(config, { db: store.db, watch: core.due, cipher, now, log, tracing }, registry)
  const { removed } = housekeepingMetrics(registry, () => readFinished(store.db))
  const tasks = housekeepingTasks(config, cipher, sendMail && (await developerMails(config, sendMail, log)))
  const stopHousekeeping = startHousekeeping({ db: store.db, now, tasks, log, removed, ...housekeeping })

  return {
    store,
    publicPort: ports.publicPort,
    internalPort: ports.internalPort,
    localUrls: trial?.urls.local,
    exampleUrl: trial?.example(),
    async close() {
      ending = true
      // Their callers ask another node.
      parts.longPollSlots.end()
      const closing = [worker?.close(), ports.close(graceMs, config.drainMs), stopHousekeeping()] as const
      const [deliveries = 0] = await Promise.all(closing)
      await parts.requestLog.close()
      oauth?.close()
      issuers.close()
      await wakes.close()
      await limits.close()
      clock?.close()
      await store.close()
      await tracing?.close()
      log.info(stoppedLine({ requests: ports.cut(), deliveries }))
    },
  }
}

/** Sends the portal's mails. */
async function developerMails({ authBaseUrl, pageBrand: { name: brand } }: Config, sendMail: SendMail, log: Logger) {
  const { mailSender } = await import('../mails/send.ts')
  return mailSender({
    sendMail,
    brand,
    portal: `${issuerOf(authBaseUrl)}/developers`,
    failed: (err) => log.warn({ err }, 'a mail to a developer could not be sent'),
  })
}

/** Reports of the core become log lines. */
const observedBy = (log: Logger): Pick<Core, 'published' | 'removed'> => ({
  published({ app, event, deliveries }) {
    log.info({ app, event, count: deliveries.length, deliveries: deliveries.slice(0, LOGGED_DELIVERIES) }, 'published')
  },
  removed: (removal, more) => auditLog(log).info({ ...removal, ...more }, 'removed'),
})

function startWorker(config: Config, parts: Omit<Parameters<typeof openWorker>[1], 'metrics'>, registry: Registry) {
  if (!config.webhooks.worker) return undefined
  const worker = openWorker(config.webhooks, { ...parts, metrics: deliveryMetrics(registry) })
  addDeliveryGauges(registry, worker.figures)
  return worker
}
