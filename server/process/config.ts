import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { teamSignups } from '../../routers/kernel/team-signup.ts'
import { defaultBaseUrls } from './base-urls.ts'
import { conflicts } from './setting-rules.ts'
import {
  baseUrl,
  brand,
  collector,
  consentAges,
  count,
  databaseUrl,
  days,
  host,
  issuer,
  loginIssuer,
  name,
  names,
  networks,
  oneOf,
  port,
  positive,
  proxies,
  redisUrl,
  seconds,
  secretsKeys,
  secureUrl,
  sender,
  smtpUrl,
} from './setting-types.ts'
import { shownValue } from './shown-value.ts'
import { misspeltInEnvironment, unknownInFile } from './unknown-names.ts'

/** Empty when the file does not exist. Throws when it cannot be read. */
function readEnvFile(file: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}

/** Every variable that the service reads; `.env.example` lists the same. */
const shape = z.object({
  PORT: port,
  HOST: host.optional(),
  LOCAL_HOST: host.default('localhost'),
  INTERNAL_PORT: port,
  INTERNAL_HOST: host,
  INTERNAL_NAMES: names.default([]),
  TRUSTED_PROXIES: proxies.default([]),
  DRAIN_SECONDS: seconds,
  DATABASE_URL: databaseUrl.optional(),
  REDIS_URL: redisUrl.optional(),
  NODES: count.default(1),
  DATABASE_DIRECT_URL: databaseUrl.optional(),
  DATABASE_POOL_MAX: count.default(10),
  MIGRATE_ON_START: oneOf('true', 'false').default('true'),
  DATA_DIR: z.string().default('.data'),
  APPS_BASE_URL: baseUrl,
  LMS_BASE_URL: baseUrl,
  NOTIFY_BASE_URL: baseUrl,
  SYNC_BASE_URL: baseUrl,
  AUTH_BASE_URL: baseUrl,
  SECRETS_KEY: secretsKeys.optional(),
  BRAND: brand.optional(),
  BRAND_LOGO: z.string().optional(),
  WORDS_DIR: z.string().optional(),
  CLUB_APPROVAL: oneOf('true', 'false').default('false'),
  CONSENT_AGE: consentAges.optional(),
  CLIENT_METADATA: oneOf('true', 'false').default('false'),
  TEAM_SIGNUP: oneOf(...teamSignups),
  KEEP_EVENTS_DAYS: days.default(30),
  KEEP_CONSENTS_DAYS: days.default(365),
  SIGNING_KEY_DAYS: days.default(90),
  STORAGE_QUOTA_BYTES: positive.default(10 * 1024 * 1024),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: sender.optional(),
  MEMBER_MAILS: oneOf('true', 'false').default('true'),
  LOGIN_ISSUER: loginIssuer.optional(),
  LOGIN_CLIENT_ID: z.string().optional(),
  LOGIN_CLIENT_SECRET: z.string().optional(),
  LOGIN_NAME: z.string().optional(),
  APPLE_PASS_CERTIFICATE: name.optional(),
  APPLE_PASS_KEY: name.optional(),
  APPLE_PASS_WWDR: name.optional(),
  APPLE_PASS_TYPE: name.optional(),
  APPLE_TEAM: name.optional(),
  DEVELOPMENT_TOKENS: oneOf('true', 'false').optional(),
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
  WEBHOOK_WORKER: oneOf('true', 'false').default('true'),
  WORKER_PORT: port.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.optional(),
  OTEL_SERVICE_NAME: name.optional(),
  OTEL_SDK_DISABLED: oneOf('true', 'false').default('false'),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  NODE_ENV: oneOf('development', 'production', 'test').optional(),
})

export type Environment = Readonly<Record<string, string | undefined>>

export const variables = Object.keys(shape.shape)

export type Config = ReturnType<typeof readConfig>

/**
 * Reads the settings; an empty variable counts as unset. Throws one error with a line for each wrong setting. Variables other
 * than `needed` are not checked, and settings derived from them have their defaults.
 */
export function readConfig(env: Environment, needed: readonly string[] = variables) {
  const given = Object.fromEntries(variables.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])))
  const all = withDefaults(given)
  const wrong = new Map(shape.safeParse(all).error?.issues.map(({ path, message }) => [String(path[0]), message]))
  const problems = [
    ...[...wrong].map(([name, allowed]) => `${name}: ${shownValue(name, all[name]!)} is not ${allowed}`),
    ...conflicts(given, all),
  ].filter((problem) => needed.includes(problem.slice(0, problem.indexOf(':'))))
  if (problems.length > 0) {
    const lines = problems.map((problem) => `\n  ${problem}`)
    throw new Error(`These settings cannot be used (.env.example describes them):${lines.join('')}`)
  }
  const data = shape.parse({ ...withDefaults({}), ...Object.fromEntries(needed.map((name) => [name, all[name]])) })
  return Object.freeze({
    port: data.PORT,
    host: data.HOST,
    localHost: data.LOCAL_HOST,
    internalPort: data.INTERNAL_PORT,
    internalHost: data.INTERNAL_HOST,
    internalNames: data.INTERNAL_NAMES,
    trustedProxies: data.TRUSTED_PROXIES,
    drainMs: data.DRAIN_SECONDS * 1000,
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    nodes: data.NODES,
    databaseDirectUrl: data.DATABASE_DIRECT_URL,
    databasePoolMax: data.DATABASE_POOL_MAX,
    migrateOnStart: data.MIGRATE_ON_START === 'true',
    dataDir: resolve(data.DATA_DIR),
    baseUrls: {
      apps: data.APPS_BASE_URL,
      lms: data.LMS_BASE_URL,
      notify: data.NOTIFY_BASE_URL,
      sync: data.SYNC_BASE_URL,
    },
    authBaseUrl: data.AUTH_BASE_URL,
    secretsKeys: data.SECRETS_KEY,
    brand: data.BRAND ?? 'the service',
    pageBrand: {
      name: data.BRAND,
      logo: data.BRAND_LOGO && resolve(data.BRAND_LOGO),
      words: data.WORDS_DIR && resolve(data.WORDS_DIR),
    },
    clubApproval: data.CLUB_APPROVAL === 'true',
    memberMails: data.MEMBER_MAILS === 'true' && data.SMTP_URL !== undefined,
    consentAges: data.CONSENT_AGE ?? null,
    clientMetadata: data.CLIENT_METADATA === 'true',
    teamSignup: data.TEAM_SIGNUP,
    keepDays: { events: data.KEEP_EVENTS_DAYS, consents: data.KEEP_CONSENTS_DAYS },
    signingKeyDays: data.SIGNING_KEY_DAYS,
    storageQuotaBytes: data.STORAGE_QUOTA_BYTES,
    tokenIssuer: data.TOKEN_ISSUER,
    login: loginSettings(data),
    applePass: passSettings(data),
    externalIssuer: data.TOKEN_ISSUER === undefined ? null : externalIssuer(data.TOKEN_ISSUER, data),
    webhooks: { allow: data.WEBHOOK_ALLOW, worker: data.WEBHOOK_WORKER === 'true' },
    workerPort: data.WORKER_PORT,
    traces: exportsTraces(data),
    logLevel: data.LOG_LEVEL,
    developmentTokens: believesDevelopmentTokens(data),
    production: data.NODE_ENV === 'production',
  })
}

/** With the defaults of ports, hosts and addresses, which depend on each other. */
function withDefaults(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PORT = '3000', DATABASE_URL, NODE_ENV } = given
  // With a trial's database and accounts, this machine only; else unset, for every interface.
  const isTrial = DATABASE_URL === undefined && NODE_ENV !== 'production'
  return {
    PORT,
    ...(isTrial && { HOST: '127.0.0.1' }),
    // A trial's people are its operators too.
    TEAM_SIGNUP: isTrial ? 'open' : 'closed',
    INTERNAL_PORT: '3001',
    INTERNAL_HOST: '127.0.0.1',
    DRAIN_SECONDS: NODE_ENV === 'production' ? '5' : '0',
    ...defaultBaseUrls(port.safeParse(PORT).success ? PORT : '3000'),
    ...given,
  }
}

/** The variables are OpenTelemetry's own; its packages read them, and others, from the environment. */
const exportsTraces = (data: z.output<typeof shape>) =>
  data.OTEL_SDK_DISABLED === 'false' &&
  (data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined

/** Anyone who can read the development key's file can act as any member, so production needs an explicit setting. */
const believesDevelopmentTokens = ({ TOKEN_ISSUER, DEVELOPMENT_TOKENS, NODE_ENV }: z.output<typeof shape>) =>
  TOKEN_ISSUER === undefined &&
  (DEVELOPMENT_TOKENS === undefined ? NODE_ENV !== 'production' : DEVELOPMENT_TOKENS === 'true')

function loginSettings(data: z.output<typeof shape>) {
  const { SMTP_URL: url, MAIL_FROM: from, LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: clientId } = data
  const { LOGIN_CLIENT_SECRET: clientSecret, LOGIN_NAME: name } = data
  const secret = clientSecret === undefined ? {} : { clientSecret }
  return {
    smtp: url && from ? { url, from } : null,
    upstream: issuer && clientId ? { issuer, clientId, ...secret, name: name ?? new URL(issuer).hostname } : null,
  }
}

function passSettings(data: z.output<typeof shape>) {
  const { APPLE_PASS_CERTIFICATE: certificate, APPLE_PASS_KEY: key, APPLE_PASS_WWDR: wwdr } = data
  const { APPLE_PASS_TYPE: type, APPLE_TEAM: team } = data
  return certificate && key && wwdr && type && team ? { certificate, key, wwdr, type, team } : null
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

/** The process's environment, completed by the file if it exists. Throws when the file cannot be read. */
export function environment(file = '.env'): Environment {
  // Not process.loadEnvFile: on Deno the file wins over the environment.
  for (const [name, value] of Object.entries(readEnvFile(file))) process.env[name] ??= value
  return process.env
}

/** A sentence for each name that the service does not know, such as a misspelt setting: of the file all, of the environment slips. */
export function unknownSettings(env: Environment = process.env, file = '.env'): string[] {
  const inFile = readEnvFile(file)
  const given = Object.fromEntries(
    Object.entries(env).filter(([name]) => variables.includes(name) || !(name in inFile)),
  )
  return [...unknownInFile(inFile, variables), ...misspeltInEnvironment(given, variables)]
}
