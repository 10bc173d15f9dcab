import { isLoopback } from '../tokens/loopback.ts'
import type { Config } from './config.ts'

/** A sentence for each valid setting that is hardly ever intended. */
export const serviceWarnings = (config: Config): string[] => [
  ...secretsWarnings(config),
  ...(hasOwnData(config) && !hasSignIn(config)
    ? [`no member can sign in: set ${SIGN_IN_SETTINGS}, or TOKEN_ISSUER (docs/sign-in.md)`]
    : []),
  ...(config.production && local(config).length > 0
    ? [`NODE_ENV is production, but only this machine knows the host of ${local(config).join(', ')}`]
    : []),
]

/** The same for programs that read secrets: the service and workers. */
export const secretsWarnings = (config: Config): string[] =>
  hasOwnData(config) && !config.secretsKeys
    ? ['SECRETS_KEY is not set: secrets and signing keys are encrypted with a key in DATA_DIR']
    : []

export const SIGN_IN_SETTINGS = 'SMTP_URL and MAIL_FROM, or LOGIN_ISSUER and LOGIN_CLIENT_ID'

/** Whether members can sign in other than by choosing a member, as in development. */
export const hasSignIn = ({ login, tokenIssuer }: Config) =>
  login.smtp !== null || login.upstream !== null || tokenIssuer !== undefined

/** Whether there is real data, beyond a trial. */
const hasOwnData = ({ databaseUrl, production }: Config) => databaseUrl !== undefined || production

const local = ({ baseUrls, authBaseUrl, tokenIssuer }: Config) =>
  Object.entries({ ...baseUrls, ...(tokenIssuer === undefined && { auth: authBaseUrl }) })
    .filter(([, url]) => isLoopback(new URL(url).hostname))
    .map(([section]) => `${section.toUpperCase()}_BASE_URL`)
