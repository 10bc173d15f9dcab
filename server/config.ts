import { resolve } from 'node:path'
import { z } from 'zod'

const port = z.coerce.number('a port number').int('a port number').min(0).max(65535)
const positive = z.coerce.number('a number of bytes').int('a whole number of bytes').min(1)

/** The documents: a base address ends with the version segment. A host of its own tells the sections apart. */
const baseUrl = z
  .url({ protocol: /^https?$/, error: 'an http(s) address' })
  .refine((text) => /^https?:\/\/[^/?#]+\/v1$/.test(text), 'an address of the form https://host/v1')

const secretsKey = z
  .string()
  .refine(
    (text) => Buffer.from(text, 'base64').length === 32,
    '32 bytes in base64, as `openssl rand -base64 32` prints',
  )
  .transform((text) => Buffer.from(text, 'base64'))

const databaseUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'a postgresql:// address' })

/** Every variable that the service reads; `.env.example` lists the same. */
const environment = z.object({
  PORT: port.default(3000),
  INTERNAL_PORT: port.default(3001),
  DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  APPS_BASE_URL: baseUrl.default('http://apps.localhost:3000/v1'),
  LMS_BASE_URL: baseUrl.default('http://lms.localhost:3000/v1'),
  NOTIFY_BASE_URL: baseUrl.default('http://notify.localhost:3000/v1'),
  SECRETS_KEY: secretsKey.optional(),
  BRAND: z.string().default('the service'),
  STORAGE_QUOTA_BYTES: positive.default(10 * 1024 * 1024),
  TOKEN_ISSUER: z.url({ protocol: /^https?$/, error: 'an http(s) address' }).optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  NODE_ENV: z.string().optional(),
})

export const variables = Object.keys(environment.shape)

export type Config = ReturnType<typeof readConfig>

/** Reads the environment once, at the start. All that is wrong with it is said at once. An empty variable is an unset one. */
export function readConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { success, data, error } = environment.safeParse(given)
  if (!success) {
    const wrong = error.issues.map(({ path, message }) => `  ${String(path[0])}: ${message}`)
    throw new Error(`These settings cannot be used (.env.example describes them):\n${wrong.join('\n')}`)
  }
  return Object.freeze({
    port: data.PORT,
    internalPort: data.INTERNAL_PORT,
    databaseUrl: data.DATABASE_URL,
    dataDir: resolve(data.DATA_DIR),
    baseUrls: { apps: data.APPS_BASE_URL, lms: data.LMS_BASE_URL, notify: data.NOTIFY_BASE_URL },
    secretsKey: data.SECRETS_KEY,
    brand: data.BRAND,
    storageQuotaBytes: data.STORAGE_QUOTA_BYTES,
    tokenIssuer: data.TOKEN_ISSUER,
    logLevel: data.LOG_LEVEL,
    production: data.NODE_ENV === 'production',
  })
}

/** What a program that we start is given: our environment, and what it needs beyond. */
export const environmentWith = (more: Record<string, string>) => ({ ...process.env, ...more })

/** The environment, completed by `.env` where there is one. */
export function readEnvironment(): Config {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
  return readConfig(process.env)
}
