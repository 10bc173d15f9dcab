import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import pino from 'pino'
import { isEmpty, seed } from '../prisma/seed.ts'
import { createCore } from '../routers/core.ts'
import { createSealer } from '../routers/webhook/seal.ts'
import type { Parts } from './app.ts'
import { createInternalApp, createPublicApp } from './app.ts'
import type { TokenRules } from './authenticate.ts'
import { authenticator } from './authenticate.ts'
import type { Config } from './config.ts'
import { corsHeaders } from './cors.ts'
import { developmentKey, developmentRules } from './development-key.ts'
import { keptFile } from './kept-file.ts'
import { listen } from './listen.ts'
import { rateLimit } from './rate-limit.ts'
import type { Store } from './store.ts'
import { openStore } from './store.ts'

/** How long requests in flight may take after the service was told to end. */
const GRACE_MS = 8_000

/** Starts the whole service on both ports, a new embedded database with the demo data; `close` ends it, its database last. */
export async function startService(config: Config, log: Logger) {
  const store = await openStore(config, (error) => log.warn({ err: error }, 'a database connection broke'))
  try {
    if (store.embedded && (await isEmpty(store.db))) await seed(store.db, new Date())
    return await serve(config, store, log)
  } catch (error) {
    await store.close()
    throw error
  }
}

async function serve(config: Config, store: Store, log: Logger) {
  let ending = false
  const now = Date.now
  const core = createCore({
    db: store.db,
    now,
    sealer: createSealer(await secretsKey(config, log)),
    brand: config.brand,
    storageQuotaBytes: config.storageQuotaBytes,
  })
  const parts: Parts = {
    core,
    log,
    baseUrls: config.baseUrls,
    authenticate: authenticator(await tokenRules(config, log), now),
    admit: rateLimit(),
    ready: async () => !ending && (await answers(store)),
  }
  const publicPort = await listen(createPublicApp(parts), config.port, corsHeaders)
  const internalPort = await listen(createInternalApp(parts), config.internalPort).catch(async (error) => {
    await publicPort.close(0)
    throw error
  })

  return {
    store,
    publicPort: publicPort.port,
    internalPort: internalPort.port,
    async close() {
      ending = true
      await Promise.all([publicPort.close(GRACE_MS), internalPort.close(GRACE_MS)])
      await store.close()
    },
  }
}

const answers = ({ db }: Store) =>
  db.$queryRaw`SELECT 1`.then(
    () => true,
    () => false,
  )

async function secretsKey({ secretsKey, databaseUrl, dataDir }: Config, log: Logger): Promise<Buffer> {
  if (secretsKey) return secretsKey
  if (databaseUrl) log.warn('SECRETS_KEY is not set: webhook secrets are sealed with a key that is kept in DATA_DIR')
  return Buffer.from(await keptFile(dataDir, 'secrets-key', () => randomBytes(32).toString('base64')), 'base64')
}

/** Which tokens are believed. The development key's are, wherever no outside issuer is configured. */
async function tokenRules({ tokenIssuer, dataDir, production }: Config, log: Logger): Promise<TokenRules> {
  if (tokenIssuer === undefined) {
    if (production) log.warn('TOKEN_ISSUER is not set: tokens of the development key in DATA_DIR are accepted')
    return developmentRules(await developmentKey(dataDir))
  }
  log.warn('TOKEN_ISSUER is set: its tokens cannot be verified yet, and those of the development key are refused')
  const noKeys = () => Promise.reject(new Error('no keys'))
  return { keys: noKeys, issuer: tokenIssuer, audience: tokenIssuer }
}

/** Of an error, what tells where it comes from; a database's `detail` may hold values. */
const serializeError = ({ name, code, message, stack }: Error & { code?: string }) => ({ name, code, message, stack })

/** The log: one line of JSON each, written without holding up the request that it is about. */
export const createLog = ({ logLevel }: Config): Logger =>
  pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
    },
    pino.destination({ sync: false }),
  )
