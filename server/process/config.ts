import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import {
  baseUrl,
  databaseUrl,
  host,
  issuer,
  loginIssuer,
  name,
  networks,
  port,
  positive,
  secretsKeys,
  secureUrl,
  sender,
  smtpUrl,
} from './setting-types.ts'

/** Variables that have no effect without another. */
const needs = {
  SMTP_URL: 'MAIL_FROM',
  MAIL_FROM: 'SMTP_URL',
  LOGIN_ISSUER: 'LOGIN_CLIENT_ID',
  LOGIN_CLIENT_ID: 'LOGIN_ISSUER',
  LOGIN_CLIENT_SECRET: 'LOGIN_ISSUER',
  LOGIN_NAME: 'LOGIN_ISSUER',
}

/** Every variable that the service reads; `.env.example` lists the same. */
const shape = z.object({
  PORT: port.default(3000),
  HOST: host.optional(),
  INTERNAL_PORT: port.default(3001),
  INTERNAL_HOST: host.default('127.0.0.1'),
  TRUSTED_PROXIES: networks.default([]),
  DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default('.data'),
  APPS_BASE_URL: baseUrl.default('http://apps.localhost:3000/v1'),
  LMS_BASE_URL: baseUrl.default('http://lms.localhost:3000/v1'),
  NOTIFY_BASE_URL: baseUrl.default('http://notify.localhost:3000/v1'),
  AUTH_BASE_URL: baseUrl.default('http://auth.localhost:3000/v1'),
  SECRETS_KEY: secretsKeys.optional(),
  BRAND: z.string().default('the service'),
  STORAGE_QUOTA_BYTES: positive.default(10 * 1024 * 1024),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: sender.optional(),
  LOGIN_ISSUER: loginIssuer.optional(),
  LOGIN_CLIENT_ID: z.string().optional(),
  LOGIN_CLIENT_SECRET: z.string().optional(),
  LOGIN_NAME: z.string().optional(),
  DEVELOPMENT_TOKENS: z.enum(['true', 'false']).optional(),
  TOKEN_ISSUER: issuer.optional(),
  TOKEN_JWKS_URL: secureUrl.optional(),
  TOKEN_TYPE: name.default('at+jwt'),
  TOKEN_AUDIENCE: name.optional(),
  TOKEN_AUDIENCE_APPS: name.optional(),
  TOKEN_AUDIENCE_LMS: name.optional(),
  TOKEN_AUDIENCE_NOTIFY: name.optional(),
  TOKEN_CLAIM_MEMBER: name.default('sub'),
  TOKEN_CLAIM_ORGANISATION: name.default('organisation'),
  TOKEN_CLAIM_CLIENT: name.default('client_id'),
  TOKEN_CLAIM_SCOPE: name.default('scope'),
  WEBHOOK_ALLOW: networks.default([]),
  WEBHOOK_WORKER: z.enum(['true', 'false']).default('true'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  NODE_ENV: z.string().optional(),
})

export type Environment = Readonly<Record<string, string | undefined>>

export const variables = Object.keys(shape.shape)

export type Config = ReturnType<typeof readConfig>

/** Reads the settings; an empty variable counts as unset. Throws one error that lists every wrong variable. */
export function readConfig(env: Environment) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { success, data, error } = shape.safeParse(given)
  const wrong = [
    ...(error?.issues.map(({ path, message }) => `  ${String(path[0])}: ${message}`) ?? []),
    ...Object.entries(needs)
      .filter(([name, other]) => name in given && !(other in given))
      .map(([name, other]) => `  ${other}: is needed with ${name}`),
    ...('TOKEN_ISSUER' in given && given.DEVELOPMENT_TOKENS === 'true'
      ? ['  DEVELOPMENT_TOKENS: only without TOKEN_ISSUER']
      : []),
    // Without an external issuer they have no effect, which their author would not expect.
    ...variables
      .filter((name) => /^TOKEN_/.test(name) && name in given && !('TOKEN_ISSUER' in given))
      .map((name) => `  ${name}: only with TOKEN_ISSUER`),
  ]
  if (!success || wrong.length > 0) {
    throw new Error(`These settings cannot be used (.env.example describes them):\n${wrong.join('\n')}`)
  }
  return Object.freeze({
    port: data.PORT,
    host: data.HOST ?? publicHost(data),
    internalPort: data.INTERNAL_PORT,
    internalHost: data.INTERNAL_HOST,
    trustedProxies: data.TRUSTED_PROXIES,
    databaseUrl: data.DATABASE_URL,
    dataDir: resolve(data.DATA_DIR),
    baseUrls: { apps: data.APPS_BASE_URL, lms: data.LMS_BASE_URL, notify: data.NOTIFY_BASE_URL },
    authBaseUrl: data.AUTH_BASE_URL,
    secretsKeys: data.SECRETS_KEY,
    brand: data.BRAND,
    storageQuotaBytes: data.STORAGE_QUOTA_BYTES,
    tokenIssuer: data.TOKEN_ISSUER,
    login: loginSettings(data),
    externalIssuer: data.TOKEN_ISSUER === undefined ? null : externalIssuer(data.TOKEN_ISSUER, data),
    webhooks: { allow: data.WEBHOOK_ALLOW, worker: data.WEBHOOK_WORKER === 'true' },
    logLevel: data.LOG_LEVEL,
    developmentTokens: believesDevelopmentTokens(data),
    production: data.NODE_ENV === 'production',
  })
}

/** With the database and the accounts of a trial, this machine only; else undefined, for every interface. */
const publicHost = ({ DATABASE_URL, NODE_ENV }: z.output<typeof shape>) =>
  DATABASE_URL === undefined && NODE_ENV !== 'production' ? '127.0.0.1' : undefined

/** Every reader of the development key's file can act as any member, so production needs an explicit setting. */
const believesDevelopmentTokens = ({ TOKEN_ISSUER, DEVELOPMENT_TOKENS, NODE_ENV }: z.output<typeof shape>) =>
  TOKEN_ISSUER === undefined &&
  (DEVELOPMENT_TOKENS === undefined ? NODE_ENV !== 'production' : DEVELOPMENT_TOKENS === 'true')

/** The ways to sign in that are configured; null for each other. */
function loginSettings(data: z.output<typeof shape>) {
  const { SMTP_URL: url, MAIL_FROM: from, LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: clientId } = data
  const { LOGIN_CLIENT_SECRET: clientSecret, LOGIN_NAME: name } = data
  const secret = clientSecret === undefined ? {} : { clientSecret }
  return {
    smtp: url && from ? { url, from } : null,
    upstream: issuer && clientId ? { issuer, clientId, ...secret, name: name ?? new URL(issuer).hostname } : null,
  }
}

/** A section's audience is its own variable, else the common one, else its base URL (RFC 8707). */
function externalIssuer(issuer: string, data: z.output<typeof shape>) {
  return {
    issuer,
    jwksUrl: data.TOKEN_JWKS_URL,
    type: data.TOKEN_TYPE,
    audiences: {
      apps: data.TOKEN_AUDIENCE_APPS ?? data.TOKEN_AUDIENCE ?? data.APPS_BASE_URL,
      lms: data.TOKEN_AUDIENCE_LMS ?? data.TOKEN_AUDIENCE ?? data.LMS_BASE_URL,
      notify: data.TOKEN_AUDIENCE_NOTIFY ?? data.TOKEN_AUDIENCE ?? data.NOTIFY_BASE_URL,
    },
    claims: {
      member: data.TOKEN_CLAIM_MEMBER,
      organisation: data.TOKEN_CLAIM_ORGANISATION,
      client: data.TOKEN_CLAIM_CLIENT,
      scope: data.TOKEN_CLAIM_SCOPE,
    },
  }
}

/** The environment of this process, completed by the file if it exists. Throws when it cannot be read. */
export function environment(file = '.env'): Environment {
  // Not process.loadEnvFile: on Deno the file wins over the environment.
  for (const [name, value] of Object.entries(readEnvFile(file))) process.env[name] ??= value
  return process.env
}

function readEnvFile(file: string) {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}
