import type { Config, Environment } from './config.ts'
import { readConfig } from './config.ts'

export const sources = {
  databaseUrl: ['DATABASE_URL'],
  databaseDirectUrl: ['DATABASE_DIRECT_URL', 'DATABASE_URL'],
  databasePoolMax: ['DATABASE_POOL_MAX'],
  migrateOnStart: ['MIGRATE_ON_START'],
  dataDir: ['DATA_DIR'],
  redisUrl: ['REDIS_URL'],
  secretsKeys: ['SECRETS_KEY'],
  authBaseUrl: ['AUTH_BASE_URL'],
  login: ['SMTP_URL', 'MAIL_FROM'],
  tokenIssuer: ['TOKEN_ISSUER'],
  developmentTokens: ['DEVELOPMENT_TOKENS', 'TOKEN_ISSUER', 'NODE_ENV'],
  storageQuotaBytes: ['STORAGE_QUOTA_BYTES'],
  keepDays: ['KEEP_EVENTS_DAYS', 'KEEP_CONSENTS_DAYS'],
  signingKeyDays: ['SIGNING_KEY_DAYS'],
  pageBrand: ['WORDS_DIR'],
  production: ['NODE_ENV'],
} as const satisfies { [Name in keyof Config]?: readonly string[] }

/** Reads the settings that a command needs; throws when one of these is wrong. Only a service needs them all. */
export const readSettings = <Needed extends keyof typeof sources>(
  env: Environment,
  ...needed: Needed[]
): Pick<Config, Needed> =>
  readConfig(
    env,
    needed.flatMap((name) => sources[name]),
  )

export const databaseSettings = [
  'databaseUrl',
  'databaseDirectUrl',
  'databasePoolMax',
  'dataDir',
  'migrateOnStart',
] as const
export const secretsSettings = ['secretsKeys', 'dataDir'] as const
