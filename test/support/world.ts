import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:http'
import type { CryptoKey } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import pino from 'pino'
import { inject } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { openDatabase } from '../../prisma/client.ts'
import type { Principal } from '../../routers/access.ts'
import { createCore } from '../../routers/core.ts'
import type { Section } from '../../routers/scopes.ts'
import { memberScopes } from '../../routers/scopes.ts'
import type { HttpParts } from '../../server/http/app.ts'
import { createPublicApp } from '../../server/http/app.ts'
import { corsHeaders } from '../../server/http/cors.ts'
import { listen } from '../../server/http/listen.ts'
import { MemoryBudget } from '../../server/http/memory-budget.ts'
import { rateLimit } from '../../server/http/rate-limit.ts'
import type { LoginMethods } from '../../server/oauth/login-methods.ts'
import { openOauth } from '../../server/oauth/open.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { createAuthenticate } from '../../server/tokens/authenticate.ts'
import { developmentIssuer } from '../../server/tokens/development.ts'
import type { TrustedIssuer } from '../../server/tokens/verify.ts'
import { createInternalApp } from '../../server/trpc/app.ts'

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** Parsed JSON; undefined when there is no body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  body: any
}

export interface Call {
  /** Default: the section that the path belongs to. It gives the Host and the token's organisation. */
  api?: Section
  claims?: Record<string, unknown>
  /** Null: no Authorization header. */
  token?: string | null
  headers?: Record<string, string | string[]>
  host?: string
  /** Text and bytes are sent as they are, everything else as JSON. */
  body?: unknown
}

interface Options {
  windowSeconds?: number
  storageQuotaBytes?: number
  brand?: string
  databaseUrl?: string
  /** With the authorization server; by default members sign in by choosing who they are. */
  auth?: Partial<LoginMethods>
  /** Another service of the same tenant, with the same secrets. */
  like?: { ids: Ids; secretsKeys: readonly Buffer[] }
  /** Trusted in place of the world's own key. */
  externalIssuer?: (now: () => number, db: Database) => Promise<TrustedIssuer>
  /** Lines of the log. */
  onLog?: (line: string) => void
}

const hosts = { apps: 'apps.test', lms: 'lms.test', notify: 'notify.test' }
export const authBaseUrl = 'http://auth.test/v1'
const allScopes = memberScopes.join(' ')
const agent = new Agent({ keepAlive: true })

export const id = (name: string) => `${name}-${randomBytes(6).toString('hex')}`

/** One for all worlds of a worker process, as each costs Prisma 70 ms to open; it ends with the process. */
let shared: Database | undefined
const sharedDatabase = () => (shared ??= openDatabase(inject('databaseUrl'), () => {}))

export type World = Awaited<ReturnType<typeof startWorld>>

/** A service of its own with a tenant of its own: clubs, people and apps that no other test knows. */
export async function startWorld(options: Options = {}) {
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  // A second service of a tenant competes with the first: it has connections of its own.
  const ownUrl = options.databaseUrl ?? (options.like && inject('databaseUrl'))
  const db = ownUrl ? openDatabase(ownUrl, () => {}) : sharedDatabase()
  const secretsKeys = options.like?.secretsKeys ?? [randomBytes(32)]
  const cipher = createCipher(secretsKeys)
  const core = createCore({
    db,
    now,
    cipher,
    brand: options.brand ?? 'the service',
    storageQuotaBytes: options.storageQuotaBytes ?? 10 * 1024 * 1024,
  })
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const development = developmentIssuer({ ...(await exportJWK(publicKey)), kid: 'test', alg: 'ES256' })
  const onError = (error: unknown) => options.onLog?.(String(error))
  const loginMethods: LoginMethods = { codes: null, upstream: null, developmentLogin: true, ...options.auth }
  const urls = { authBaseUrl, appsBaseUrl: 'http://apps.test/v1' }
  const oauth = options.auth && (await openOauth({ db, now, cipher, secretsKeys, ...urls, loginMethods, onError }))
  const trusted = oauth ? [oauth.trusted, development] : [(await options.externalIssuer?.(now, db)) ?? development]
  const parts: HttpParts = {
    core,
    baseUrls: { apps: 'http://apps.test/v1', lms: 'http://lms.test/v1', notify: 'http://notify.test/v1' },
    authenticate: createAuthenticate(trusted, now),
    consumeQuota: rateLimit(options.windowSeconds),
    memory: new MemoryBudget(),
    log: pino({ level: options.onLog ? 'info' : 'silent' }, { write: (line) => options.onLog?.(line) }),
    ready: async () => true,
    oauth: oauth?.step,
  }
  const publicPort = await listen(createPublicApp(parts), 0, corsHeaders)
  const internalPort = await listen(createInternalApp(parts), 0)
  const ids = options.like?.ids ?? (options.databaseUrl ? anyIds() : await mintTenant(db))

  const organisations = { apps: ids.club, lms: ids.academy, notify: ids.provider }
  const token = (claims: Record<string, unknown> = {}, key: CryptoKey = privateKey, header: object = {}) => {
    const seconds = Math.floor(now() / 1000)
    const payload = {
      sub: ids.member,
      organisation: ids.club,
      client_id: ids.client,
      scope: allScopes,
      iss: development.issuer,
      aud: development.audience,
      iat: seconds,
      exp: seconds + 3600,
      jti: randomUUID(),
      ...claims,
    }
    return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'test', ...header }).sign(key)
  }

  return {
    db,
    core,
    memory: parts.memory,
    ids,
    oauth,
    secretsKeys,
    token,
    publicPort: publicPort.port,
    internalPort: internalPort.port,
    now: () => Math.floor(now() / 1000),
    advance(seconds: number) {
      offsetMs += seconds * 1000
    },
    principal: (claims: Partial<Principal> = {}): Principal => ({
      member: ids.member,
      organisation: ids.club,
      client: ids.client,
      scopes: new Set(memberScopes),
      ...claims,
    }),
    /** A REST request: the path is one below `/v1`. */
    async call(method: string, path: string, call: Call = {}): Promise<Reply> {
      const api = call.api ?? (path.startsWith('/quizzes') ? 'lms' : path.startsWith('/apps/') ? 'notify' : 'apps')
      const bearer =
        call.token === undefined ? await token({ organisation: organisations[api], ...call.claims }) : call.token
      return send(publicPort.port, method, `/v1${path}`, {
        ...call,
        headers: {
          host: call.host ?? hosts[api],
          ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
          ...call.headers,
        },
      })
    },
    /** A request to the internal port. */
    internal: (method: string, path: string, call: Call = {}) => send(internalPort.port, method, path, call),
    async close() {
      oauth?.close()
      await Promise.all([publicPort.close(0), internalPort.close(0)])
      if (ownUrl) await db.$disconnect()
    },
  }
}

export type Ids = ReturnType<typeof anyIds>

const anyIds = () => ({
  club: id('club'),
  academy: id('academy'),
  provider: id('provider'),
  team: id('team'),
  app: id('app'),
  client: id('client'),
  platform: id('platform'),
  member: id('member'),
})

async function mintTenant(db: Database) {
  const ids = anyIds()
  const { club, academy, provider, team, app, client, platform, member } = ids
  await db.organisation.createMany({
    data: [
      { id: club, kind: 'club', name: 'Club' },
      { id: academy, kind: 'academy', name: 'Academy' },
      { id: provider, kind: 'provider', name: 'Provider' },
    ],
  })
  await db.person.create({ data: { id: member, firstName: 'Mia', lastName: 'Member', email: 'mia@example.org' } })
  await db.membership.createMany({
    data: [club, academy, provider].map((organisationId) => ({ organisationId, personId: member })),
  })
  await db.team.create({ data: { id: team, name: 'Team', level: 'developer' } })
  await db.app.create({ data: { id: app, name: 'App', teamId: team, providerId: provider } })
  await db.client.create({ data: { id: client, name: 'Client', teamId: team, appId: app, environment: 'production' } })
  await db.client.create({ data: { id: platform, name: 'Platform', environment: 'production' } })
  return ids
}

function send(port: number, method: string, path: string, { headers, body }: Call): Promise<Reply> {
  const content =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const type =
    content === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method, path, agent, headers: { ...type, ...headers } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: response.statusCode!, headers: response.headers, text, body: parse(text) })
        })
      },
    )
    sent.on('error', reject)
    sent.end(content)
  })
}

function parse(text: string) {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
