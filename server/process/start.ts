import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { isEmpty, moveDemoEvents, seed } from '../../prisma/seed.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import { within } from '../../prisma/within.ts'
import { readFinished } from '../../routers/kernel/housekeeping.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { loadBrand } from '../browser/brand.ts'
import { builtDocs } from '../docs/open.ts'
import { clientAddress } from '../http/client-address.ts'
import { watchSecretsKey } from '../secrets/watch.ts'
import { housekeepingMetrics } from '../telemetry/housekeeping-metrics.ts'
import { limiterMetrics } from '../telemetry/limiter-metrics.ts'
import { openWorker } from '../webhooks/open.ts'
import { assemble } from './assemble.ts'
import type { Config } from './config.ts'
import type { Cadence } from './housekeeping.ts'
import { cadence, housekeepingTasks, startHousekeeping } from './housekeeping.ts'
import { createSignIn } from './login.ts'
import { developerMails } from './mailer.ts'
import { openPorts } from './ports.ts'
import { noteAddress } from './running-address.ts'
import type { Runtime } from './runtime.ts'
import { openRuntime } from './runtime.ts'
import { addServiceGauges } from './service-metrics.ts'
import { stoppedLine } from './stopped-line.ts'
import { openTrial } from './trial.ts'
import { openTrustedIssuers } from './trusted-issuers.ts'
import { serviceWarnings } from './warnings.ts'

export const GRACE_MS = 8_000

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
  const pageBrand = loadBrand(config.pageBrand)
  for (const sentence of serviceWarnings(config)) log.warn(sentence)
  const runtime = await openRuntime(
    { ...config, log, program: 'member-apps-api', timeLimits, given: given ? { clock: { now: given } } : {} },
    ...PARTS,
  )
  return runtime.orClose(() => serve(config, runtime, { log, timeLimits, graceMs, housekeeping, pageBrand }))
}

const PARTS = ['observed', 'store', 'clock', 'limits', 'secrets', 'core', 'mailer', 'wakes'] as const

interface Given extends Required<Omit<Overrides, 'now'>> {
  log: Logger
  pageBrand: ReturnType<typeof loadBrand>
}

async function serve(config: Config, runtime: Runtime<(typeof PARTS)[number]>, given: Given) {
  const { store, limits, core, mailer } = runtime
  const { registry, tracing } = runtime.observed
  const { keys: secretsKeys, cipher } = runtime.secrets
  const { log, timeLimits, graceMs, housekeeping, pageBrand } = given
  const { db, now } = core
  if (store.embedded && !config.production) await fillDemo(db, new Date(now()))
  let ending = false
  const limiter = limiterMetrics(registry, config.redisUrl === undefined ? undefined : limits)
  const hasKey = watchSecretsKey({ db, cipher, log, now })
  const trial = openTrial(config)
  const signIn = await createSignIn(config, store, { core, secretsKeys, limits, sendMail: mailer, log })
  const { parts, oauth, issuers } = await assemble({
    core,
    log,
    limits,
    registry,
    tracing,
    pageBrand,
    docs: builtDocs,
    readClientAddress: clientAddress(config.trustedProxies),
    baseUrls: config.baseUrls,
    authBaseUrl: config.authBaseUrl,
    localUrls: trial?.urls.local,
    internalNames: config.internalNames,
    signIn,
    trust: (own) => openTrustedIssuers(config, own, { db, now, log, issuerMs: timeLimits.issuerMs }),
    trial,
    limited: limiter.refused,
    async ready(withoutDatabase = false) {
      if (ending || !issuers.ready()) return false
      return (await db.isReady()) ? hasKey() : withoutDatabase
    },
    example: trial?.step,
  })
  runtime.add(() => issuers.close())
  runtime.add(() => oauth?.close())
  runtime.add(() => parts.requestLog.close())
  addServiceGauges(registry, {
    db,
    memory: parts.memory,
    longPollSlots: parts.longPollSlots,
    signsSince: () => oauth?.signsSince(),
    issuerReadAt: issuers.readAt,
    now,
  })
  // Connects, so that the first check does not wait for that.
  await db.isReady()
  const ports = await openPorts(parts, config)
  await trial?.register(db)
  if (trial) runtime.add(await noteAddress(config))
  const worker = config.webhooks.worker
    ? openWorker(config.webhooks, { db, watch: core.due, cipher, now, log, registry, tracing })
    : undefined
  const tasks = housekeepingTasks(config, cipher, await developerMails(config, pageBrand.words, mailer, log))
  const { removed } = housekeepingMetrics(registry, () => readFinished(db, tasks))
  const stopHousekeeping = startHousekeeping({ db, now, tasks, log, removed, ...housekeeping })
  let deliveries = 0
  runtime.add(async () => {
    ending = true
    const givesUpAt = performance.now() + config.drainMs + graceMs
    // Their callers ask another node.
    parts.longPollSlots.end(config.drainMs)
    const [cut = 0] = await Promise.all([worker?.close(), ports.close(graceMs, config.drainMs), stopHousekeeping()])
    deliveries = cut
    await within(Math.max(0, givesUpAt - performance.now()), Promise.resolve(signIn?.loginMethods.codes?.settled()))
  })

  return {
    store,
    publicPort: ports.publicPort,
    internalPort: ports.internalPort,
    localUrls: trial?.urls.local,
    exampleUrl: trial?.example(),
    async close() {
      await runtime.close()
      log.info(stoppedLine({ requests: ports.cut(), deliveries }))
    },
  }
}

const fillDemo = async (db: Database, today: Date) =>
  (await isEmpty(db)) ? seed(db, today, memberScopesAt) : moveDemoEvents(db, today)
