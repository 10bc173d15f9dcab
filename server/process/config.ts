import { resolve } from 'node:path'
import { z } from 'zod'
import { isSecure } from '../tokens/jwks-discovery.ts'
import { isLoopback } from '../tokens/loopback.ts'
import { isNetwork } from '../webhooks/send/addresses.ts'

const port = z.coerce.number('a port number').int('a port number').min(0).max(65535)
const positive = z.coerce.number('a number of bytes').int('a whole number of bytes').min(1)

/** The documents: a base address ends with the version segment. A host of its own tells the sections apart. */
const baseUrl = z
  .url({ protocol: /^https?$/, error: 'an http(s) address' })
  .refine((text) => /^https?:\/\/[^/?#]+\/v1$/.test(text), 'an address of the form https://host/v1')

/** One key or several: the first one seals, all of them open. */
const secretsKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => Buffer.from(key, 'base64')))
  .refine(
    (keys) => keys.every(({ length }) => length === 32),
    '32 bytes in base64, as `openssl rand -base64 32` prints; several with a comma between',
  )

const databaseUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'a postgresql:// address' })

const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: 'an smtp:// or smtps:// address' })
  .refine((text) => new URL(text).hostname !== '', 'an smtp:// or smtps:// address')

/** As the header `From` has it: an address, alone or as `Name <address>`. */
const sender = z.string().regex(/^(?:[^<>@\p{C}]*<[^\s<>@\p{C}]+@[^\s<>@\p{C}]+>|[^\s<>@\p{C}]+@[^\s<>@\p{C}]+)$/u, {
  error: 'an e-mail address, or a name and <an e-mail address>',
})

/** Where members sign in has to be what it says it is. */
const loginIssuer = z.url({ protocol: /^https?$/, error: 'an https address' }).refine((text) => {
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}, 'an https address; http is for this machine only')

const networks = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .refine(
    (entries) => entries.every(isNetwork),
    'IP addresses and networks with commas between: 127.0.0.1,10.20.0.0/16',
  )

/** Variables that say nothing without another. */
const needs = {
  SMTP_URL: 'MAIL_FROM',
  MAIL_FROM: 'SMTP_URL',
  LOGIN_ISSUER: 'LOGIN_CLIENT_ID',
  LOGIN_CLIENT_ID: 'LOGIN_ISSUER',
  LOGIN_CLIENT_SECRET: 'LOGIN_ISSUER',
  LOGIN_NAME: 'LOGIN_ISSUER',
}
const secureUrl = z.string().refine(isSecure, 'an https address (http for this machine)')
const issuer = secureUrl.refine((text) => !/[?#]/.test(text), 'an address without a query')
const name = z.string().min(1)

/** Every variable that the service reads; `.env.example` lists the same. */
const shape = z.object({
  PORT: port.default(3000),
  INTERNAL_PORT: port.default(3001),
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

/** Reads the environment once, at the start. All that is wrong with it is said at once. An empty variable is an unset one. */
export function readConfig(env: Environment) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { success, data, error } = shape.safeParse(given)
  const wrong = [
    ...(error?.issues.map(({ path, message }) => `  ${String(path[0])}: ${message}`) ?? []),
    ...Object.entries(needs)
      .filter(([name, other]) => name in given && !(other in given))
      .map(([name, other]) => `  ${other}: is needed beside ${name}`),
    // They would be without effect, and who sets them means an outside issuer.
    ...variables
      .filter((name) => /^TOKEN_/.test(name) && name in given && !('TOKEN_ISSUER' in given))
      .map((name) => `  ${name}: only beside TOKEN_ISSUER`),
  ]
  if (!success || wrong.length > 0) {
    throw new Error(`These settings cannot be used (.env.example describes them):\n${wrong.join('\n')}`)
  }
  return Object.freeze({
    port: data.PORT,
    internalPort: data.INTERNAL_PORT,
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
    production: data.NODE_ENV === 'production',
  })
}

/** How members can sign in, beyond what the embedded default offers. */
function loginSettings(data: z.output<typeof shape>) {
  const { SMTP_URL: url, MAIL_FROM: from, LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: clientId } = data
  const { LOGIN_CLIENT_SECRET: clientSecret, LOGIN_NAME: name } = data
  const secret = clientSecret === undefined ? {} : { clientSecret }
  return {
    smtp: url && from ? { url, from } : null,
    upstream: issuer && clientId ? { issuer, clientId, ...secret, name: name ?? new URL(issuer).hostname } : null,
  }
}

/** A section's audience is its own, else the common one, else its base address, as RFC 8707 has it. */
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

/** The environment of this process, completed by the file `.env` if it exists. */
export function environment(): Environment {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
  return process.env
}
