import { unusableParameter } from '../prisma/address-parameters.ts'
import type { AppRouter } from '../routers/client-router.ts'
import { callAs } from '../routers/core.ts'
import type { Principal as AnyPrincipal } from '../routers/kernel/access.ts'
import type { Json } from '../routers/kernel/json.ts'
import { openRuntime } from './process/runtime.ts'
import { secretsKeys } from './process/setting-types.ts'

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
  /** Without it, there are no addresses of calendars. */
  authBaseUrl?: string
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
  const addresses = { databaseUrl, databaseDirectUrl: options.databaseDirectUrl ?? databaseUrl }
  for (const [name, address] of Object.entries(addresses)) {
    const unusable = unusableParameter(address)
    if (unusable !== undefined) throw new TypeError(`${name} is not ${unusable}`)
  }
  const settings = {
    databaseUrl,
    databaseDirectUrl: options.databaseDirectUrl,
    databasePoolMax: options.databasePoolMax,
    redisUrl: options.redisUrl,
    secretsKeys: keys.data,
    brand,
    ...(options.authBaseUrl !== undefined && { authBaseUrl: options.authBaseUrl }),
    storageQuotaBytes,
    migrateOnStart,
    // Neither data nor keys of its own.
    dataDir: '',
    onConnectionError: options.onConnectionError,
  }
  const { core, close } = await openRuntime(settings, 'store', 'secrets', 'clock', 'core', 'wakes')
  return { callAs: (principal, options) => callAs(core, principal, options), close }
}

export type { AppRouter, Json }
