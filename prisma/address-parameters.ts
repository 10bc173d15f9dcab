import { parseUrl } from './parse-url.ts'

const ANY = /^/s

/**
 * The parameters of a database's address that have the effect that their author expects, with their possible values. The driver
 * ignores others, and other values of these.
 */
const HONOURED = new Map<string, RegExp>([
  ...['host', 'port', 'user', 'password'].map((name) => [name, ANY] as const),
  ...['sslcert', 'sslkey', 'sslrootcert'].map((name) => [name, ANY] as const),
  // `false` switches TLS on; `prefer` and `allow` require it.
  ['ssl', /^(?:true|1|0|no-verify)$/],
  ['sslmode', /^(?:disable|require|verify-ca|verify-full|no-verify)$/],
  ['sslnegotiation', /^(?:postgres|direct)$/],
  ['uselibpqcompat', /^true$/],
  ...['application_name', 'fallback_application_name'].map((name) => [name, ANY] as const),
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].map((name) => [name, ANY] as const),
  ['query_timeout', ANY],
  ['options', /^(?!.*search[_-]path)/is],
  // The service has its own limits; pg_dump and psql, with the same address, use it.
  ['connect_timeout', ANY],
  ['client_encoding', /^utf-?8$/i],
  // These values change nothing.
  ['schema', /^public$/],
  ['gssencmode', /^(?:disable|prefer)$/],
  ['channel_binding', /^(?:disable|prefer)$/],
  ['target_session_attrs', /^any$/],
])

const SCHEMA = 'the tables are in the schema public'
const INSTEAD = new Map([
  ...['options', 'schema', 'search_path', 'searchpath', 'currentschema'].map((name) => [name, SCHEMA] as const),
  ...['dbname', 'database', 'db'].map((name) => [name, 'the database is the path of the address'] as const),
  ...['connection_limit', 'max', 'pool_size'].map((name) => [name, 'DATABASE_POOL_MAX has that effect'] as const),
  ['pgbouncer', 'PgBouncer needs none, but prepared statements (docs/database.md)'],
  ['ssl', 'its values are true, 1, 0 and no-verify'],
  [
    'sslmode',
    'its values are disable, require, verify-ca, verify-full and no-verify; allow and prefer would require TLS',
  ],
  ['client_encoding', 'texts are in UTF-8'],
])

/** Continues a sentence after "is not": the first parameter of an address that would be ignored. */
export function unusableParameter(url: string): string | undefined {
  for (const [name, value] of parseUrl(url)?.searchParams ?? []) {
    if (HONOURED.get(name)?.test(value)) continue
    // Other texts may be part of a password that is not encoded.
    const shown = /^[a-z_-]{1,40}$/i.test(name) ? `the parameter ${name}` : 'a parameter of an unknown name'
    const reason = INSTEAD.get(name.toLowerCase()) ?? 'it would be ignored'
    return `possible with ${shown}: ${reason}`
  }
  return undefined
}

/**
 * Decodes as the driver does: a `%` without two hexadecimal digits stays. Throws where bytes are not UTF-8, and where an address has
 * both, of which the driver decodes none.
 */
export function decodeAddress(text: string): string {
  const [raw, encoded] = [/%(?![\da-f]{2})/gi, /%[\da-f]{2}/i]
  if (!raw.test(text)) return decodeURIComponent(text)
  if (encoded.test(text)) throw new URIError('It is only partly percent-encoded.')
  return text
}

export function isDecodable(url: string): boolean {
  try {
    decodeAddress(url)
    return true
  } catch {
    return false
  }
}
