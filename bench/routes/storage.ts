import { ENTRIES, VALUE } from '../data/rows.ts'
import type { Bare, BenchedRoute } from './route.ts'

/** An app's storage limit in a club, in bytes. */
const QUOTA = 10_485_760

const toKey = (i: number) => `key-${i % ENTRIES}`
const segment = (path: string, n: number) => path.split('/')[n]!

const get = {
  name: 'get',
  text: `SELECT value, floor(extract(epoch FROM "updatedAt"))::int8 AS "updatedAt"
    FROM bare.entry WHERE app = $1 AND club = $2 AND collection = $3 AND key = $4`,
}

const list = {
  name: 'list',
  text: `SELECT key, value, floor(extract(epoch FROM "updatedAt"))::int8 AS "updatedAt", count(*) OVER () AS total
    FROM bare.entry WHERE app = $1 AND club = $2 AND collection = $3 ORDER BY key LIMIT $4 OFFSET $5`,
}

/**
 * Entry and counter in one statement. The growth is computed from the row that the upsert has locked, so it is correct with
 * concurrent writers; above the quota the counter becomes null, which its column refuses, and nothing is stored.
 */
const put = {
  name: 'put',
  text: `WITH stored AS (
      INSERT INTO bare.entry AS entry VALUES ($1, $2, $3, $4, $5, octet_length($5), octet_length($5), to_timestamp($6))
      ON CONFLICT (app, club, collection, key) DO UPDATE SET value = excluded.value, bytes = excluded.bytes,
        growth = excluded.bytes - entry.bytes, "updatedAt" = excluded."updatedAt"
      RETURNING growth)
    INSERT INTO bare.usage AS usage SELECT $1, $2, growth FROM stored
    ON CONFLICT (app, club) DO UPDATE SET bytes =
      CASE WHEN excluded.bytes <= 0 OR usage.bytes + excluded.bytes <= $7 THEN usage.bytes + excluded.bytes END`,
}

const remove = {
  name: 'delete',
  text: `WITH removed AS (
      DELETE FROM bare.entry WHERE app = $1 AND club = $2 AND collection = $3 AND key = $4 RETURNING bytes)
    UPDATE bare.usage SET bytes = usage.bytes - removed.bytes FROM removed WHERE app = $1 AND club = $2`,
}

const DELETED = 100

const bareGet: Bare = async (pool, { app, club }, path) => {
  const key = segment(path, 4)
  const { rows } = await pool.query({ ...get, values: [app, club, segment(path, 3), key] })
  const [{ value, updatedAt }] = rows
  return `{"key":${JSON.stringify(key)},"value":${value},"updatedAt":${updatedAt}}`
}

const bareList: Bare = async (pool, { app, club }, path) => {
  const { rows } = await pool.query({ ...list, values: [app, club, segment(path, 3), 50, 0] })
  let items = ''
  for (const { key, value, updatedAt } of rows) {
    items += `${items && ','}{"key":${JSON.stringify(key)},"value":${value},"updatedAt":${updatedAt}}`
  }
  return `{"items":[${items}],"total":${rows[0].total}}`
}

const barePut: Bare = async (pool, { app, club }, path, body) => {
  const key = segment(path, 4)
  const value = JSON.stringify(JSON.parse(body).value)
  const updatedAt = Math.floor(Date.now() / 1000)
  await pool.query({ ...put, values: [app, club, segment(path, 3), key, value, updatedAt, QUOTA] })
  return `{"key":${JSON.stringify(key)},"value":${value},"updatedAt":${updatedAt}}`
}

const bareDelete: Bare = async (pool, { app, club }, path) => {
  const { rowCount } = await pool.query({ ...remove, values: [app, club, segment(path, 3), segment(path, 4)] })
  if (rowCount !== 1) throw new Error('no entry')
  return ''
}

const entryPath = (i: number) => `/v1/storage/bench/${toKey(i)}`
const address = (i: number) => ({ collection: 'bench', key: toKey(i) })

export const storageRoutes: Record<string, BenchedRoute> = {
  get: {
    target: 1.5,
    reached: 1.9,
    method: 'GET',
    path: entryPath,
    bare: bareGet,
    procedure: { path: 'storage.get', input: address },
  },
  put: {
    target: 1.8,
    reached: 2.8,
    method: 'PUT',
    path: entryPath,
    body: `{"value":${VALUE}}`,
    bare: barePut,
    procedure: { path: 'storage.put', input: (i) => ({ ...address(i), value: JSON.parse(VALUE) }) },
  },
  list: {
    target: 1.5,
    reached: 1.9,
    method: 'GET',
    path: () => '/v1/storage/bench',
    bare: bareList,
    procedure: { path: 'storage.list', input: () => ({ collection: 'bench' }) },
  },
  delete: {
    method: 'DELETE',
    path: (i) => `/v1/storage/gone/key-${i % DELETED}`,
    each: DELETED,
    bare: bareDelete,
    refill: {
      bare: `INSERT INTO bare.entry SELECT app, club, 'gone', 'key-' || n, '1', 1, 0, now()
        FROM bare.usage, generate_series(0, ${DELETED - 1}) n ON CONFLICT DO NOTHING`,
      service: `INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
        SELECT app, club, '', 'gone', 'key-' || n, '1', gen_random_uuid(), now()
        FROM bare.usage, generate_series(0, ${DELETED - 1}) n ON CONFLICT DO NOTHING`,
    },
    procedure: { path: 'storage.delete', input: (i) => ({ collection: 'gone', key: `key-${i % DELETED}` }) },
  },
}
