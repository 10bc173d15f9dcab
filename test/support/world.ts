import { randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import pino from 'pino'
import { Registry } from 'prom-client'
import { inject } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import type { ConsentAges } from '../../routers/kernel/consent-ages.ts'
import type { TeamSignup } from '../../routers/kernel/team-signup.ts'
import type { Brand } from '../../server/browser/brand.ts'
import type { LoginMethods } from '../../server/browser/login/methods.ts'
import type { HttpParts } from '../../server/http/app.ts'
import { clientAddress } from '../../server/http/client-address.ts'
import type { ConcurrencyLimit } from '../../server/http/concurrency-limit.ts'
import type { Limits } from '../../server/limits/limit.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import type { DocumentSettings } from '../../server/oauth/engine/client-documents.ts'
import type { Passes } from '../../server/oauth/keys/card-passes.ts'
import { assemble } from '../../server/process/assemble.ts'
import { openPorts } from '../../server/process/ports.ts'
import { openRuntime } from '../../server/process/runtime.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { developmentIssuer } from '../../server/tokens/development.ts'
import type { TrustedIssuer } from '../../server/tokens/verify.ts'
import { renderedDocs } from './rendered-docs.ts'
import type { Call } from './request.ts'
import { send } from './request.ts'
import { SECRETS_KEY } from './secrets-key.ts'
import type { Ids } from './tenant.ts'
import { createTenant, newIds } from './tenant.ts'
import { hosts, tenantCalls } from './tenant-calls.ts'
import { openTestDatabase } from './test-database.ts'
import { suiteLimits } from './time-limits.ts'

interface Options {
  /** In place of limits whose minutes pass with `advance` alone. */
  limits?: Limits
  storageQuotaBytes?: number
  brand?: string
  /** The pages' brand. */
  pageBrand?: Brand
  /** The authorization server's address; `https` as behind a proxy that ends TLS. */
  authBaseUrl?: string
  databaseUrl?: string
  /** By default the service's clock, which `advance` may set back. */
  steady?: () => number
  /** Further addresses of the APIs, as in the trial. */
  localUrls?: HttpParts['localUrls']
  /** With what only a trial has. */
  trial?: boolean
  /** With the authorization server; by default members sign in by choosing who they are. */
  auth?: Partial<LoginMethods>
  passes?: Passes
  /** CLUB_APPROVAL. */
  clubApproval?: boolean
  /** CLIENT_METADATA; by default off. */
  documents?: DocumentSettings
  /** MEMBER_MAILS; by default none are queued. */
  memberMails?: boolean
  /** CONSENT_AGE. */
  consentAges?: ConsentAges
  teamSignup?: TeamSignup
  /** Another service of the same tenant, with the same secrets. */
  like?: { ids: Ids; secretsKeys: readonly Buffer[] }
  /** Trusted in place of the world's own key. */
  externalIssuer?: (now: () => number, db: Database) => Promise<TrustedIssuer>
  /** Proxies that tell the client's address; with any, there is the limit on invalid tokens of an address. */
  trustedProxies?: readonly string[]
  /** Failed requests at the token endpoint that an address may make in a minute; by default without limit. */
  tokenFailures?: number
  tracing?: HttpParts['tracing']
  /** The places of sandbox clients. */
  shares?: ConcurrencyLimit
  /** How long people who work on apps wait for a place. */
  peopleWaitMs?: number
  /** In place of the suite's. */
  timeLimits?: Partial<TimeLimits>
  /** In place of the shared connections; its owner disconnects it. */
  db?: Database
  /** Lines of the log, from `logLevel` on: by default `info`. */
  onLog?: (line: string) => void
  logLevel?: 'debug'
}

export const authBaseUrl = 'http://auth.test/v1'
const baseUrls = {
  apps: 'http://apps.test/v1',
  lms: 'http://lms.test/v1',
  notify: 'http://notify.test/v1',
  sync: 'http://sync.test/v1',
}
const methods: LoginMethods = { codes: null, upstream: null, developmentLogin: true }
/** Tests write the request log themselves. */
const NEVER = 2 ** 31 - 1
/** One for all tests of a worker process, as each costs Prisma 70 ms to open; it ends with the process. */
let shared: Database | undefined
export const sharedDatabase = () => (shared ??= openTestDatabase(inject('databaseUrl')))

export type World = Awaited<ReturnType<typeof startWorld>>

/** A service of its own with a tenant of its own: clubs, people and apps that no other test knows. */
export async function startWorld(options: Options = {}) {
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  // A second service of a tenant competes with the first: it has connections of its own.
  const ownUrl = options.databaseUrl ?? (options.like && inject('databaseUrl'))
  const db = options.db ?? (ownUrl ? openTestDatabase(ownUrl) : sharedDatabase())
  const secretsKeys = options.like?.secretsKeys ?? [randomBytes(32)]
  const cipher = createCipher(secretsKeys)
  const timeLimits = { ...suiteLimits, ...options.timeLimits }
  const passed = () => offsetMs
  const { core, limits } = await openRuntime(
    {
      // The given database, or the tests' own.
      databaseUrl: ownUrl ?? inject('databaseUrl'),
      databaseDirectUrl: undefined,
      databasePoolMax: undefined,
      dataDir: '',
      migrateOnStart: false,
      brand: options.brand ?? 'the service',
      storageQuotaBytes: options.storageQuotaBytes ?? 10 * 1024 * 1024,
      authBaseUrl: options.authBaseUrl ?? authBaseUrl,
      teamSignup: options.teamSignup ?? 'closed',
      timeLimits,
      given: {
        store: { db, url: '', embedded: null, close: async () => {} },
        clock: { now, ...(options.steady && { steady: options.steady }) },
        // It writes secrets into the shared database as well, whose key is another.
        secrets: { keys: secretsKeys, cipher: createCipher([...secretsKeys, Buffer.from(SECRETS_KEY, 'base64')]) },
        limits: options.limits ?? memoryLimits(passed),
      },
    },
    'core',
    'limits',
  )
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const development = developmentIssuer({ ...(await exportJWK(publicKey)), kid: 'test', alg: 'ES256' })
  const onError = (error: unknown) => options.onLog?.(String(error))
  const registry = new Registry()
  const { parts, oauth } = await assemble({
    core,
    limits,
    registry,
    tracing: options.tracing,
    pageBrand: options.pageBrand ?? {},
    docs: renderedDocs,
    log: pino(
      { level: options.onLog ? (options.logLevel ?? 'info') : 'silent' },
      { write: (line) => options.onLog?.(line) },
    ),
    readClientAddress: clientAddress(options.trustedProxies ?? []),
    baseUrls,
    authBaseUrl: options.authBaseUrl ?? authBaseUrl,
    localUrls: options.localUrls,
    trial: options.trial ? { example: () => undefined, referenceClient: () => undefined, trpcUrl: '' } : undefined,
    signIn: options.auth && {
      cipher,
      secretsKeys,
      onError,
      loginMethods: { ...methods, ...options.auth },
      clubApproval: options.clubApproval ?? false,
      memberMails: options.memberMails ?? false,
      consentAges: options.consentAges ?? null,
      documents: options.documents,
      passes: options.passes,
      tokenFailures: options.tokenFailures ?? Number.MAX_SAFE_INTEGER,
    },
    trust: async (own) => ({
      trusted: own ? [...own.trusted, development] : [(await options.externalIssuer?.(now, db)) ?? development],
    }),
    ready: async () => true,
    example: undefined,
    more: {
      shares: options.shares,
      peopleWaitMs: options.peopleWaitMs,
      logWriteMs: NEVER,
      limitsFailedAuthentications: options.trustedProxies !== undefined,
      passed,
    },
  })
  const ports = await openPorts(parts, { port: 0, internalPort: 0 })
  const ids = options.like?.ids ?? (options.databaseUrl ? newIds() : await createTenant(db))

  const calls = tenantCalls({
    ids,
    issuer: { ...development, key: privateKey, kid: 'test' },
    brand: core.brand,
    now,
    send: (...request) => send(ports.publicPort, ...request),
  })

  return {
    db,
    core,
    memory: parts.memory,
    longPollSlots: parts.longPollSlots,
    requestLog: parts.requestLog,
    ids,
    oauth,
    secretsKeys,
    /** As the service knows them. */
    hosts,
    ...calls,
    publicPort: ports.publicPort,
    internalPort: ports.internalPort,
    advance(seconds: number) {
      offsetMs += seconds * 1000
    },
    /** A request to the internal port. */
    internal: (method: string, path: string, call: Call = {}) => send(ports.internalPort, method, path, call),
    async close() {
      oauth?.close()
      await ports.close(0)
      if (ownUrl) await db.$disconnect()
    },
  }
}
