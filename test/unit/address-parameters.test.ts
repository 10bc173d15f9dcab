import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { unusableParameter } from '../../prisma/address-parameters.ts'
import { readRole } from '../../prisma/session-limits.ts'
import { readConfig } from '../../server/process/config.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'

const address = (...parameters: [string, string][]) => {
  const search = parameters.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
  return `postgresql://anna:canary@db.example.org/clubs?${search}`
}

/** Name, value, and what is expected. */
type Case = [string, string, unknown]

/** What the driver makes of an address. */
const readByDriver = (url: string) => {
  const { connectionParameters } = new pg.Client({ connectionString: url }) as unknown as {
    connectionParameters: Record<string, unknown>
  }
  return connectionParameters
}

describe('a parameter of an address', () => {
  it.each<Case>([
    ['schema', 'clubs', 'the parameter schema: the tables are in the schema public'],
    ['currentSchema', 'clubs', 'the parameter currentSchema: the tables are in the schema public'],
    ['search_path', 'clubs', 'the parameter search_path: the tables are in the schema public'],
    ...['-c search_path=clubs', '-c timezone=UTC --Search-Path=clubs'].map(
      (value) => ['options', value, `the parameter options: the tables are in the schema public`] as Case,
    ),
    ['dbname', 'clubs', 'the parameter dbname: the database is the path of the address'],
    ['connection_limit', '1', 'the parameter connection_limit: DATABASE_POOL_MAX has that effect'],
    ['pgbouncer', 'true', 'the parameter pgbouncer: PgBouncer needs none, but prepared statements (docs/database.md)'],
    ['client_encoding', 'LATIN1', 'the parameter client_encoding: texts are in UTF-8'],
    ...['false', 'off', ''].map(
      (value) => ['ssl', value, 'the parameter ssl: its values are true, 1, 0 and no-verify'] as Case,
    ),
    ...['prefer', 'allow', 'verify_full', ''].map(
      (value) => ['sslmode', value, expect.stringContaining('the parameter sslmode: its values are disable, ')] as Case,
    ),
    ...['sslnegotiation', 'uselibpqcompat'].map(
      (name) => [name, 'on', `the parameter ${name}: it would be ignored`] as Case,
    ),
    ...['pool_timeout', 'socket_timeout', 'statement_cache_size', 'sslaccept', 'sslidentity', 'sslpassword'].map(
      (name) => [name, '1', `the parameter ${name}: it would be ignored`] as Case,
    ),
    ...['channel_binding', 'gssencmode', 'require_auth', 'target_session_attrs', 'constructor', 'Schema'].map(
      (name) => [name, 'require', expect.stringContaining(`the parameter ${name}: `)] as Case,
    ),
    ['word@db.example.org/clubs', 'canary', 'a parameter of an unknown name: it would be ignored'],
  ])('%s=%s is refused by name', (name, value, reason) => {
    const url = address(['sslmode', 'verify-full'], [name, value])
    const unusable = unusableParameter(url)
    expect(unusable).toEqual(typeof reason === 'string' ? `possible with ${reason}` : reason)
    for (const setting of ['DATABASE_URL', 'DATABASE_DIRECT_URL']) {
      expect(() => readConfig({ DATABASE_URL: 'postgresql://db/clubs', [setting]: url })).toThrow(
        `\n  ${setting}: "postgresql://***@db.example.org/clubs?***" is not ${unusable}`,
      )
    }
  })

  it.each<Case>([
    ['host', '/run/postgresql', '/run/postgresql'],
    ['port', '6432', 6432],
    ['user', 'ben', 'ben'],
    ['password', 'other', 'other'],
    ['application_name', 'node-1', 'node-1'],
    ['fallback_application_name', 'node-1', 'node-1'],
    ['statement_timeout', '4000', '4000'],
    ['lock_timeout', '4000', '4000'],
    ['idle_in_transaction_session_timeout', '4000', '4000'],
    ['query_timeout', '4000', '4000'],
    ['options', '-c jit=off', '-c jit=off'],
  ])('%s=%s is read by the driver', (name, value, expected) => {
    const url = address([name, value])
    expect(unusableParameter(url)).toBeUndefined()
    expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
    expect(readByDriver(url)[name]).toEqual(expected)
  })

  it.each<[[string, string][], unknown]>([
    [[['ssl', 'true']], true],
    [[['ssl', '1']], true],
    [[['ssl', '0']], false],
    [[['ssl', 'no-verify']], { rejectUnauthorized: false }],
    [[['sslmode', 'disable']], false],
    [[['sslmode', 'no-verify']], { rejectUnauthorized: false }],
    [[['sslmode', 'verify-full']], {}],
    [
      [
        ['uselibpqcompat', 'true'],
        ['sslmode', 'require'],
      ],
      { rejectUnauthorized: false },
    ],
    [
      [
        ['sslmode', 'verify-full'],
        ['sslrootcert', '/dev/null'],
      ],
      { ca: '' },
    ],
    [
      [
        ['sslmode', 'verify-full'],
        ['sslcert', '/dev/null'],
        ['sslkey', '/dev/null'],
      ],
      { cert: '', key: '' },
    ],
    [[['sslnegotiation', 'direct']], true],
  ])('%j is read by the driver', (parameters, ssl) => {
    const url = address(...parameters)
    expect(unusableParameter(url)).toBeUndefined()
    expect(readByDriver(url).ssl).toEqual(ssl)
  })

  it.each<[string, string]>([
    ['schema', 'public'],
    ['connect_timeout', '15'],
    ['client_encoding', 'utf8'],
    ['gssencmode', 'disable'],
    ['channel_binding', 'prefer'],
    ['target_session_attrs', 'any'],
  ])('%s=%s may be there, as it changes nothing', (name, value) => {
    expect(unusableParameter(address([name, value]))).toBeUndefined()
  })

  it('is refused by name among any others, wherever it is, without its value', () => {
    const known = fc.constantFrom<[string, string][]>(
      ['sslmode', 'require'],
      ['connect_timeout', '5'],
      ['schema', 'public'],
      ['user', 'ben'],
    )
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-'
    const others = ['schema', 'search_path', 'Options', 'Host', 'PORT', 'sslMode', 'connection_limit', 'toString']
    const unknown = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 37 })
    const other = fc.oneof(
      fc.constantFrom(...others),
      unknown.map((name) => `x${name}`),
    )
    const lists = fc.record({ before: fc.array(known), name: other, after: fc.array(known) })
    fc.assert(
      fc.property(lists, ({ before, name, after }) => {
        expect(unusableParameter(address(...before, ...after))).toBeUndefined()
        const unusable = unusableParameter(address(...before, [name, '0canary0'], ...after))
        expect(unusable).toContain(`possible with the parameter ${name}: `)
        expect(unusable).not.toContain('canary')
      }),
      { seed, numRuns: times(20_000, 2_000) },
    )
  })
})

it('the role of an address is that of its parameter user, else of its authority', () => {
  expect(readRole('postgresql://anna@db/clubs?user=ben%40org')).toBe('ben@org')
  expect(readRole('postgresql://anna%40org@db/clubs')).toBe('anna@org')
  expect(readRole('postgresql://100%:p@db/clubs')).toBe('100%')
  expect(readRole('postgresql://db/clubs')).toBeUndefined()
})

it.each([
  'postgresql://anna:canary@/clubs?host=/var/run/postgresql',
  'postgresql://anna:canary@one:5432,other:5432/clubs',
  ...['#', '/', '?'].map((sign) => `postgresql://anna:p${sign}canary@db:5432/clubs`),
  'postgresql://anna%ff:canary@db/clubs',
  'postgresql://anna:canary%ff@db/clubs',
  'postgresql://anna:canary%zz@%2Fvar%2Frun%2Fpostgresql/clubs',
])('an address that the driver misreads is refused with what to write, without its password: %s', (url) => {
  const refused = () => readConfig({ DATABASE_URL: url })
  expect(refused).toThrow(
    /is not a postgresql:\/\/ address of one host, with a percent-encoded user and password; that of a socket is /,
  )
  expect(refused).not.toThrow('canary')
})

it('a socket is an address', () => {
  const url = 'postgresql://anna:p@%2Fvar%2Frun%2Fpostgresql/clubs'
  expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
  expect(readByDriver(url)).toMatchObject({ host: '/var/run/postgresql', database: 'clubs', user: 'anna' })
})
