import { isIP } from 'node:net'
import { z } from 'zod'
import { isDecodable, unusableParameter } from '../../prisma/address-parameters.ts'
import { parseUrl } from '../../prisma/parse-url.ts'
import { countries } from '../../routers/kernel/countries.ts'
import { lineFault, strayIn } from '../../routers/kernel/text-input.ts'
import { isNetwork } from '../outgoing/addresses.ts'
import { isSecure } from '../tokens/jwks-discovery.ts'
import { isLoopback } from '../tokens/loopback.ts'

/** Types of settings; each error message completes `NAME: VALUE is not `. */

const AGES = 'an age from 1 to 18, ages of countries once each, or both, such as 16,AT:14'
/** A map from country to age; that of '' is for all others. */
export const consentAges = z
  .string()
  .transform((text) => text.split(',').map((entry) => /^(?:([A-Z]{2}):)?([1-9]|1[0-8])$/.exec(entry.trim())))
  .refine((found) => found.every((one) => one && (one[1] === undefined || countries.has(one[1]))), AGES)
  .transform((found) => found.map((one) => [one?.[1] ?? '', Number(one?.[2])] as const))
  .refine((ages) => new Set(ages.map(([country]) => country)).size === ages.length, AGES)
  .transform((ages): ReadonlyMap<string, number> => new Map(ages))

const PORTS = 'a port, a number from 0 to 65535'
export const port = z
  .string()
  .regex(/^\d{1,5}$/, PORTS)
  .transform(Number)
  .refine((number) => number <= 65535, PORTS)

export const host = z
  .string()
  .refine((text) => isIP(text) !== 0, 'an IP address of this machine, or :: for every interface')

export const positive = z
  .string()
  .regex(/^0*[1-9]\d{0,14}$/, 'a whole number of bytes, 1 or more')
  .transform(Number)

export const count = z
  .string()
  .regex(/^0*[1-9]\d{0,3}$/, 'a number from 1 to 9999')
  .transform(Number)

const SECONDS = 'a number of seconds from 0 to 60'
export const seconds = z
  .string()
  .regex(/^\d{1,2}(?:\.\d{1,3})?$/, SECONDS)
  .transform(Number)
  .refine((number) => number <= 60, SECONDS)

export const days = z
  .string()
  .regex(/^0*[1-9]\d{0,3}$/, 'a whole number of days, 1 to 9999')
  .transform(Number)

export const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  z.enum(words, { error: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` })

const BASE_URL = 'an address of the form https://host/v1'

/** In the API documents, a base URL ends with the version segment. The sections differ by host. */
export const baseUrl = z
  .url({ protocol: /^https?$/, error: BASE_URL })
  .refine((text) => /^https?:\/\/[^/?#@]+\/v1$/.test(text), BASE_URL)

/** One key or several: the first encrypts, all of them decrypt. */
export const secretsKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => Buffer.from(key, 'base64')))
  .refine(
    (keys) => keys.every(({ length }) => length === 32),
    '32 bytes in base64, as `openssl rand -base64 32` prints, or several of them, separated by commas',
  )

const DATABASE =
  'a postgresql:// address of one host, with a percent-encoded user and password; that of a socket is ' +
  'postgresql://user:password@%2Fvar%2Frun%2Fpostgresql/database'
export const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: DATABASE })
  .refine(isDecodable, DATABASE)
  .superRefine((text, { addIssue }) => {
    const unusable = unusableParameter(text)
    if (unusable !== undefined) addIssue(unusable)
  })

const REDIS = 'a redis:// or rediss:// address'
export const redisUrl = z
  .url({ protocol: /^rediss?$/, error: REDIS })
  .refine((text) => Boolean(parseUrl(text)?.hostname), REDIS)

const MAIL_SERVER = 'an smtp:// or smtps:// address'
export const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: MAIL_SERVER })
  .refine((text) => Boolean(parseUrl(text)?.hostname), MAIL_SERVER)

/** The longest line of a mail's header (RFC 5322, 2.1.1). */
const MAX_SENDER = 998

/** As in the header `From`: an address, or `Name <address>`. */
export const sender = z.string().refine((text) => {
  const [, named, address] = /^([^<>@]*)<([^<>]+)>$/.exec(text) ?? [undefined, '', text]
  const isNamed = named!.trim() === '' || lineFault(named!.trim(), MAX_SENDER) === undefined
  return isNamed && /^[^\s<>@\p{C}]+@[^\s<>@\p{C}]+$/u.test(address!)
}, 'an e-mail address, or a name and <an e-mail address>')

/** Joiners are needed in emoji and in some scripts. */
export const brand = z
  .string()
  .refine((text) => strayIn(text) === undefined, 'a name whose joiners (as U+200D) are between letters or emoji')

/** OpenTelemetry's packages append `/v1/traces` unless it is there. */
export const collector = z.url({ protocol: /^https?$/, error: 'an http or https address' })

export const SECURE = 'an https address, or an http address of this machine'

/** Members sign in there, so the connection must be secure. */
export const loginIssuer = z.string().refine((text) => {
  const url = parseUrl(text)
  if (!url) return false
  const { protocol, hostname } = url
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}, SECURE)

export const networks = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .refine(
    (entries) => entries.every(isNetwork),
    'a list of IP addresses and networks, separated by commas, such as 127.0.0.1,10.20.0.0/16',
  )

export const proxies = networks.refine(
  (entries) => !entries.some((entry) => entry.endsWith('/0')),
  'a list of proxies: with a network of /0, each client could name its own address',
)

export const names = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim().toLowerCase()))
  .refine(
    (entries) => entries.every((entry) => /^[a-z\d-]+(?:\.[a-z\d-]+)*$/.test(entry)),
    'a list of host names, separated by commas, such as node-1.example.org',
  )

export const secureUrl = z.string().refine(isSecure, SECURE)
export const issuer = secureUrl.refine((text) => !/[?#]/.test(text), 'an address without a query')
export const name = z.string().min(1)
