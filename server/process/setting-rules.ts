import { parseUrl } from '../../prisma/parse-url.ts'
import { MAX_AUTH_BASE_URL } from '../browser/addresses.ts'
import { isSecure } from '../tokens/jwks-discovery.ts'
import { BASE_URLS } from './base-urls.ts'
import { SECURE } from './setting-types.ts'
import { shownValue } from './shown-value.ts'

/** Settings that have no effect without another. */
const needs = {
  DATABASE_DIRECT_URL: 'DATABASE_URL',
  SMTP_URL: 'MAIL_FROM',
  MAIL_FROM: 'SMTP_URL',
  LOGIN_ISSUER: 'LOGIN_CLIENT_ID',
  LOGIN_CLIENT_ID: 'LOGIN_ISSUER',
  LOGIN_CLIENT_SECRET: 'LOGIN_ISSUER',
  LOGIN_NAME: 'LOGIN_ISSUER',
  NODES: 'REDIS_URL',
  APPLE_PASS_CERTIFICATE: 'APPLE_PASS_KEY',
  APPLE_PASS_KEY: 'APPLE_PASS_WWDR',
  APPLE_PASS_WWDR: 'APPLE_PASS_TYPE',
  APPLE_PASS_TYPE: 'APPLE_TEAM',
  APPLE_TEAM: 'APPLE_PASS_CERTIFICATE',
}

type Texts = Readonly<Record<string, string>>

/**
 * Conflicts between settings, one text each: `NAME: …`. `given` are those that are set, `all` includes the defaults of ports,
 * hosts and addresses.
 */
export const conflicts = (given: Texts, all: Texts): string[] => [
  ...Object.entries(needs)
    .filter(([name, other]) => name in given && !(other in given))
    .map(([name, other]) => `${other}: is required with ${name}`),
  // Without an external issuer they have no effect, which their author would not expect.
  ...Object.entries(given)
    .filter(([name]) => name.startsWith('TOKEN_') && !('TOKEN_ISSUER' in given))
    .map(([name, value]) => `${name}: ${shownValue(name, value)} has no effect without TOKEN_ISSUER`),
  ...('TOKEN_ISSUER' in given && given.DEVELOPMENT_TOKENS === 'true'
    ? ['DEVELOPMENT_TOKENS: "true" is not possible with TOKEN_ISSUER']
    : []),
  // Another issuer asks members for their consent.
  ...['CLUB_APPROVAL', 'CLIENT_METADATA']
    .filter((name) => 'TOKEN_ISSUER' in given && given[name] === 'true')
    .map((name) => `${name}: "true" is not possible with TOKEN_ISSUER`),
  ...('TOKEN_ISSUER' in given && 'CONSENT_AGE' in given
    ? [`CONSENT_AGE: ${shownValue('CONSENT_AGE', given.CONSENT_AGE!)} is not possible with TOKEN_ISSUER`]
    : []),
  ...(isInsecureSignIn(given, all)
    ? [`AUTH_BASE_URL: ${shownValue('AUTH_BASE_URL', all.AUTH_BASE_URL!)} is not ${SECURE}, as production requires`]
    : []),
  ...(!('TOKEN_ISSUER' in given) && all.AUTH_BASE_URL!.length > MAX_AUTH_BASE_URL
    ? [`AUTH_BASE_URL: is longer than ${MAX_AUTH_BASE_URL} characters, and a QR of a member card could not hold it`]
    : []),
  ...sharedHosts(given, all),
  ...(sharesPort(all) ? [`INTERNAL_PORT: "${all.INTERNAL_PORT}" is also the PORT, and must differ`] : []),
]

/** Over http its cookies have no `Secure`, and passwords, codes and tokens are sent in clear text. */
const isInsecureSignIn = (given: Texts, { NODE_ENV, AUTH_BASE_URL }: Texts) =>
  NODE_ENV === 'production' &&
  !('TOKEN_ISSUER' in given) &&
  parseUrl(AUTH_BASE_URL!)?.protocol === 'http:' &&
  !isSecure(AUTH_BASE_URL!)

/** The host tells the sections apart, and isolates the sign-in's cookies. */
function sharedHosts(given: Texts, all: Texts): string[] {
  const hosts = new Map<string, string>()
  const byDefaultFirst = [...BASE_URLS].sort((a, b) => Number(a in given) - Number(b in given))
  return byDefaultFirst.flatMap((name) => {
    const url = all[name]!
    const host = parseUrl(url)?.hostname.replace(/\.$/, '')
    if (host === undefined) return []
    const other = hosts.get(host)
    if (other === undefined) hosts.set(host, name)
    return other === undefined ? [] : [`${name}: ${shownValue(name, url)} has the host of ${other}, but needs its own`]
  })
}

/** Whether a port with this setting listens on all interfaces. */
export const isEveryInterface = (host: string | undefined) => host === undefined || host === '::' || host === '0.0.0.0'

const sharesPort = ({ PORT, INTERNAL_PORT, HOST, INTERNAL_HOST }: Texts) =>
  PORT === INTERNAL_PORT &&
  PORT !== '0' &&
  (isEveryInterface(HOST) || isEveryInterface(INTERNAL_HOST) || HOST === INTERNAL_HOST)
