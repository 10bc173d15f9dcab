import type { Logger } from 'pino'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import type { Core } from '../../routers/kernel/context.ts'
import type { DueWatch } from '../../routers/kernel/due-watch.ts'
import type { SendMail } from '../browser/login/mail.ts'
import type { Limits } from '../limits/limit.ts'
import type { Config } from './config.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { Observed } from './observe.ts'
import { Opened } from './opened.ts'
import type { Store, StoreSettings } from './store.ts'
import { openStore } from './store.ts'
import type { Watches } from './wakes.ts'

/** What a process may open; each part opens those that it needs. */
export interface Parts {
  /** Metrics and spans, of the database as well. */
  observed: Observed
  store: Store
  clock: Pick<DatabaseClock, 'now'> & Partial<DatabaseClock>
  secrets: { keys: readonly Buffer[]; cipher: Core['cipher'] }
  limits: Limits
  core: Core
  /** Reports to and from other processes: of what the core watches or, without one, of due deliveries. */
  wakes: Watches & { due: DueWatch }
  /** Undefined without a mail server. */
  mailer: SendMail | undefined
}

type Name = keyof Parts

/** The settings of the parts that are asked for. */
export interface RuntimeSettings extends StoreSettings, Partial<Omit<Config, keyof StoreSettings>> {
  log?: Logger | undefined
  /** The name of the process in its spans. */
  program?: string
  /** Connects to the server itself, also where the service connects to PgBouncer. Its sessions are not checked. */
  direct?: boolean
  timeLimits?: TimeLimits | undefined
  /** Gets the errors of idle database connections, which are reopened automatically. */
  onConnectionError?: ((error: Error) => void) | undefined
  /** Parts that are open already; their owner closes them. */
  given?: Partial<Parts>
}

export type Runtime<Asked extends Name> = Opened & Pick<Parts, Asked>

interface Opening {
  settings: RuntimeSettings
  opened: Opened
  isAsked: (name: Name) => boolean
  need: <Needed extends Name>(name: Needed) => Promise<Parts[Needed]>
}

/** Each loads its modules when it is called: a command, which needs the store alone, starts without the others'. */
const open: { [N in Name]: (opening: Opening) => Promise<Parts[N]> } = {
  async observed({ settings: { traces = false, program = '', log }, opened }) {
    const { observe } = await import('./observe.ts')
    const observed = await observe({ traces }, program, log!)
    opened.add(() => observed.tracing?.close())
    return observed
  },

  async store({ settings, opened, isAsked, need }) {
    const { log, timeLimits = productionLimits, direct = false } = settings
    const warn = (sentence: string): void => log?.warn(sentence)
    const broke = (error: Error) => log?.warn({ err: error }, 'a database connection broke')
    const observer = isAsked('observed') ? (await need('observed')).pool : undefined
    const store = await openStore(settings, settings.onConnectionError ?? broke, { direct, warn, observer, timeLimits })
    opened.add(store.close)
    if (!direct) {
      const { checkSessions } = await import('../../prisma/session-limits.ts')
      for (const sentence of await checkSessions(store.db, timeLimits)) warn(sentence)
    }
    return store
  },

  async clock({ settings: { log }, opened, isAsked, need }) {
    const { openDatabaseClock } = await import('./database-clock.ts')
    const clock = await openDatabaseClock((await need('store')).db, { log })
    opened.add(clock.close)
    if (isAsked('observed')) {
      const { addClockGauge } = await import('../telemetry/process-metrics.ts')
      addClockGauge((await need('observed')).registry, clock.aheadSeconds)
    }
    return clock
  },

  async secrets({ settings: { secretsKeys, dataDir }, need }) {
    const { openSecrets } = await import('../secrets/keys.ts')
    return openSecrets({ secretsKeys, dataDir }, (await need('store')).db)
  },

  async limits({ settings: { redisUrl: url, nodes = 1, log }, opened }) {
    const limits =
      url === undefined
        ? (await import('../limits/memory.ts')).memoryLimits()
        : await (await import('../limits/redis.ts')).openRedisLimits({ url, nodes, log: log! })
    opened.add(() => limits.close())
    return limits
  },

  async core({ settings, need }) {
    const {
      brand,
      authBaseUrl,
      tokenIssuer,
      storageQuotaBytes,
      teamSignup,
      timeLimits = productionLimits,
      log,
    } = settings
    const [{ db }, { now, steady }, { cipher }] = [await need('store'), await need('clock'), await need('secrets')]
    const { createCore } = await import('../../routers/core.ts')
    const { coreEvents } = await import('./log.ts')
    return createCore({
      db,
      now,
      steady,
      cipher,
      brand: brand!,
      authBaseUrl: tokenIssuer === undefined ? authBaseUrl : undefined,
      storageQuotaBytes: storageQuotaBytes!,
      teamSignup,
      timeLimits,
      ...(log && coreEvents(log)),
    })
  },

  async wakes({ settings: { redisUrl }, opened, isAsked, need }) {
    const { openNodeWakes } = await import('./node-wakes.ts')
    const { DueWatch } = await import('../../routers/kernel/due-watch.ts')
    const { db, url } = await need('store')
    const core = isAsked('core') ? await need('core') : undefined
    const watches = core ? { stores: core.watch, events: core.eventWatch, due: core.due } : { due: new DueWatch() }
    const wakes = await openNodeWakes({ db, url, redisUrl }, watches)
    opened.add(wakes.close)
    return watches
  },

  async mailer({ settings: { login, tokenIssuer, pageBrand, log }, need }) {
    const { openMailer } = await import('./mailer.ts')
    return openMailer({ login: login!, tokenIssuer, pageBrand: pageBrand! }, (await need('observed')).registry, log!)
  },
}

/** Opens the parts that are asked for, and what they need, one after the other. When one fails, the others are closed. */
export async function openRuntime<Asked extends Name>(
  settings: RuntimeSettings,
  ...asked: Asked[]
): Promise<Runtime<Asked>> {
  const opened = new Opened()
  const parts: Partial<Parts> = { ...settings.given }
  const need = async <Needed extends Name>(name: Needed): Promise<Parts[Needed]> => {
    if (!(name in parts)) parts[name] = await open[name](opening)
    return parts[name] as Parts[Needed]
  }
  const opening: Opening = { settings, opened, isAsked: (name) => asked.some((one) => one === name), need }
  await opened.orClose(async () => {
    for (const name of asked) await need(name)
  })
  return Object.assign(opened, parts as Pick<Parts, Asked>)
}
