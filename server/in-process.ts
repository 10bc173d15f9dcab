import { unusableParameter } from '../prisma/address-parameters.ts'
import { openDatabase } from '../prisma/client.ts'
import { prepareSchema } from '../prisma/prepare-schema.ts'
import { checkSessions, roleOf } from '../prisma/session-limits.ts'
import type { AppRouter } from '../routers/client-router.ts'
import { callAs, createCore } from '../routers/core.ts'
import type { Principal as AnyPrincipal } from '../routers/kernel/access.ts'
import type { Json } from '../routers/kernel/json.ts'
import type { DatabaseClock } from './process/database-clock.ts'
import { openDatabaseClock } from './process/database-clock.ts'
import { openNodeWakes } from './process/node-wakes.ts'
import { secretsKeys } from './process/setting-types.ts'
import { createCipher } from './secrets/cipher.ts'
import { checkSecretsKey } from './secrets/keys.ts'

/** The caller: member (null for a first-party client acting for itself), organisation, client and scopes. */
export type Principal = Pick<AnyPrincipal, 'member' | 'organisation' | 'client' | 'scopes'>

export type Caller = ReturnType<AppRouter['createCaller']>

/** Each option is the setting of the same name, and must match the service that uses the same database. */
export interface ServiceOptions {
  databaseUrl: string
  /** The server's own address when databaseUrl is PgBouncer's. */
  databaseDirectUrl?: string
  databasePoolMax?: number
  /** The nodes' Redis, which passes on the changes of this process; without it, NOTIFY does. */
  redisUrl?: string
  /** 32 bytes in base64; several keys are separated by commas. */
  secretsKey: string
  brand?: string
  storageQuotaBytes?: number
  /** By default false: a database of another release is refused. */
  migrateOnStart?: boolean
  /** Called with the errors of idle database connections, which are reopened automatically. */
  onConnectionError?: (error: Error) => void
}

export interface Service {
  /**
   * Runs the same checks as over HTTP, without token, rate limit or response headers. Throws errors with `status` and
   * `publicCode`. The signal ends streams, with an AbortError.
   */
  callAs: (principal: Principal, options?: { signal?: AbortSignal }) => Caller
  close: () => Promise<void>
}

/**
 * The procedures in this process. It listens on no port and sends no webhooks: a service or worker on the same database does.
 * Throws when the database cannot be used, lacks migrations, or has secrets of another key; the database is then unchanged.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const {
    databaseUrl,
    secretsKey,
    brand = 'the service',
    storageQuotaBytes = 10 * 1024 * 1024,
    migrateOnStart = false,
  } = options
  const keys = secretsKeys.safeParse(secretsKey)
  if (!keys.success) throw new TypeError(`secretsKey: ${keys.error.issues[0]!.message}`)
  const url = options.databaseDirectUrl ?? databaseUrl
  for (const [name, address] of Object.entries({ databaseUrl, databaseDirectUrl: url })) {
    const unusable = unusableParameter(address)
    if (unusable !== undefined) throw new TypeError(`${name} is not ${unusable}`)
  }
  await prepareSchema(url, { migrateOnStart, role: roleOf(databaseUrl) })
  const db = openDatabase(databaseUrl, options.onConnectionError ?? (() => {}), { max: options.databasePoolMax })
  const cipher = createCipher(keys.data)
  let clock: DatabaseClock
  try {
    await checkSessions(db)
    await checkSecretsKey(db, cipher)
    clock = await openDatabaseClock(db)
  } catch (error) {
    await db.$disconnect()
    throw error
  }
  const core = createCore({ db, cipher, brand, storageQuotaBytes, now: clock.now })
  const watches = { stores: core.watch, events: core.eventWatch, due: core.due }
  const wakes = await openNodeWakes({ db, url, redisUrl: options.redisUrl }, watches)
  return {
    callAs: (principal, options) => callAs(core, principal, options),
    async close() {
      await wakes.close()
      clock.close()
      await db.$disconnect()
    },
  }
}

export type { AppRouter, Json }
