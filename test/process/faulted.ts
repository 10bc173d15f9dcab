import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { expect, onTestFinished } from 'vitest'
import { seed } from '../../prisma/seed.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import type { Section, TokenSection } from '../../routers/kernel/scopes.ts'
import { memberScopes, memberScopesAt } from '../../routers/kernel/scopes.ts'
import { readConfig } from '../../server/process/config.ts'
import { startService } from '../../server/process/start.ts'
import { developmentKey, mintToken } from '../../server/tokens/development.ts'
import { demoConsent } from '../support/app-server.ts'
import { limitOwnSessions, migratedDatabase } from '../support/databases.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { sampleCalls } from '../support/sample-calls.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { suiteLimits } from '../support/time-limits.ts'
import type { Answer } from './service.ts'
import { send } from './service.ts'

/** At the host of a section, with a token for another one or the same. */
interface At {
  section: Section
  tokens: TokenSection
}

interface Options {
  settings?: Record<string, string>
  databaseUrl?: string
  timeLimits?: Partial<TimeLimits>
  /** The database has a Unix socket. */
  isLocal?: boolean
}

export type Faulted = Awaited<ReturnType<typeof startFaulted>>

/** The whole service in this process, with the demo data, its database behind a proxy that can fail. */
export async function startFaulted({ databaseUrl: given, timeLimits: some, settings, isLocal }: Options = {}) {
  const databaseUrl = given ?? (await migratedDatabase())
  const timeLimits = { ...suiteLimits, readyMs: productionLimits.readyMs, placeMs: 5_000, ...some }
  await limitOwnSessions(databaseUrl, timeLimits)
  const direct = openTestDatabase(databaseUrl)
  await seed(direct, new Date(), memberScopesAt)
  await direct.consent.create({ data: demoConsent })
  await direct.$disconnect()

  const proxy = await FaultProxy.to(databaseUrl, isLocal ? await temporaryDirectory() : undefined)
  const dataDir = await mkdtemp(join(tmpdir(), 'member-apps-faults-'))
  const lines: string[] = []
  // A worker's looks would open connections when a test wants none.
  const ports = { PORT: '0', INTERNAL_PORT: '0' }
  const env = { ...ports, DATABASE_URL: proxy.url, DATA_DIR: dataDir, WEBHOOK_WORKER: 'false', ...settings }
  const config = readConfig(env)
  const log = pino({}, { write: (line) => void lines.push(line) })
  let stoppedAt: number | undefined
  const service = await startService(config, log, { timeLimits, now: () => stoppedAt ?? Date.now() })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= service.close()
    return closed
  }
  onTestFinished(async () => {
    await proxy.end()
    await close()
    proxy.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  const key = await developmentKey(dataDir)
  const organisations = { apps: 'riverside', lms: 'academy', notify: 'provider' }
  const bearer = async (tokens: TokenSection, member: string | null) => {
    const scope = memberScopes.join(' ')
    const claims = { member, organisation: organisations[tokens], client: 'trainer-app', scope, expiresInSeconds: 600 }
    return { authorization: `Bearer ${await mintToken(key, claims)}` }
  }
  return {
    databaseUrl,
    proxy,
    close,
    /** The service's clock stands still, so that what it has cached stays so. */
    stopClock() {
      stoppedAt = Date.now()
    },
    log: () => lines.map((line) => JSON.parse(line)),
    /** Stores the address of the demo app that the examples change and remove, without the secret that it gets by the change. */
    async putAddress() {
      const db = openTestDatabase(databaseUrl)
      const { addressId: id } = sampleCalls()['addresses.update']!.input as { addressId: string }
      const own = { appId: 'trainer-app', subscriber: 'address', address: true }
      await db.subscription.upsert({ where: { id }, create: { id, ...own }, update: {} })
      await db.$disconnect()
    },
    /** The lines of the log that tell of an error, or of requests that were refused. */
    failures: () => lines.map((line) => JSON.parse(line)).filter(({ err, reason }) => err || reason),
    /** Without a member, by the app itself. */
    async rest({ section, tokens }: At, member: string | null, method: string, path: string, body?: unknown) {
      const headers = { host: `${section}.localhost`, ...(await bearer(tokens, member)) }
      return send(service.publicPort, method, `/v1${path}`, { headers, body })
    },
    async trpc(tokens: TokenSection, member: string | null, path: string, input: unknown, isMutation: boolean) {
      const headers = await bearer(tokens, member)
      const query = isMutation || input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`
      const [method, body] = isMutation ? ['POST', input] : ['GET', undefined]
      return send(service.internalPort, method, `/trpc/${path}${query}`, { headers, body })
    },
    /** An app asks the authorization server for a member's consent, and for a token. */
    authorize: () => {
      const query =
        'client_id=example-app&response_type=code&redirect_uri=http://example.localhost:3000/&scope=svc.me.profile:read'
      const headers = { host: 'auth.localhost', accept: 'text/html' }
      const challenge = `code_challenge_method=S256&code_challenge=${'a'.repeat(43)}`
      return send(service.publicPort, 'GET', `/v1/oauth/authorize?${query}&${challenge}`, { headers })
    },
    token: () => {
      const basic = Buffer.from('platform:a-secret-that-is-wrong').toString('base64')
      const type = 'application/x-www-form-urlencoded'
      const headers = { host: 'auth.localhost', authorization: `Basic ${basic}`, 'content-type': type }
      const form = 'grant_type=client_credentials'
      return send(service.publicPort, 'POST', '/v1/oauth/token', { headers, form })
    },
    ready: (query = '') => send(service.internalPort, 'GET', `/readyz${query}`),
    alive: () => send(service.internalPort, 'GET', '/healthz'),
  }
}

/** The gateway's 503. */
export function expectUnavailable(what: string, { status, headers, body }: Answer) {
  const message = 'This service is not available right now.'
  const error = { code: 'unavailable', message, request_id: headers['x-request-id'] }
  expect([what, status, body]).toEqual([what, 503, { error }])
  expect([what, headers['retry-after']]).toEqual([what, expect.stringMatching(/^[1-9]\d*$/)])
}

/** The same over tRPC, in tRPC's own envelope. */
export function expectUnavailableTrpc(what: string, { status, headers, body }: Answer) {
  expect([what, status, body.error?.message]).toEqual([what, 503, 'This service is not available right now.'])
  expect(body.error.data).toMatchObject({ code: 'SERVICE_UNAVAILABLE', httpStatus: 503, error: 'unavailable' })
  expect([what, headers['retry-after']]).toEqual([what, expect.stringMatching(/^[1-9]\d*$/)])
}
