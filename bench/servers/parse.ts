import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../data/database.ts'
import { runSql } from '../data/database.ts'
import { removedAnyway } from '../data/interrupted.ts'
import { ENTRIES, VALUE } from '../data/rows.ts'
import type { Request, RequestSet } from '../load/process.ts'
import { byTenants, contentHeaders } from '../load/requests.ts'
import type { Tenant } from '../routes/route.ts'
import type { Server } from './process.ts'
import { startServer } from './process.ts'

const APP_ID = 'bench'
const MASTER_KEY = randomUUID()
const program = fileURLToPath(new URL('../peers/parse.mjs', import.meta.url))

/** Parse Server with every tenant's entries, on a separate database, and its requests for each row. */
export async function startParse(bench: Bench): Promise<Server & { sets: RequestSet[] }> {
  const database = `${new URL(bench.url).pathname.slice(1)}_parse`
  const url = Object.assign(new URL(bench.url), { pathname: `/${database}` }).href
  await runSql(bench.url, `CREATE DATABASE ${database}`)
  const drop = removedAnyway(() => runSql(bench.url, `DROP DATABASE ${database} WITH (FORCE)`))
  // Avoids log files in this directory.
  const env = { DATABASE_URL: url, APP_ID, MASTER_KEY, NODE_ENV: 'production', PARSE_SERVER_LOGS_FOLDER: 'null' }
  let server: Server | undefined
  const stop = async () => {
    await server?.stop()
    await drop()
  }
  try {
    server = await startServer([program], env)
    return { ...server, stop, sets: requestSets(bench, await fill(server.port, url, bench)) }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Creates the class, and for each tenant a user with exclusive access to its entries; returns their session tokens. */
async function fill(port: number, database: string, { tenants }: Bench): Promise<Map<string, string>> {
  const send = async (path: string, body: object, master = {}) => {
    const headers = { 'x-parse-application-id': APP_ID, 'content-type': 'application/json', ...master }
    const url = `http://127.0.0.1:${port}/parse/${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`Parse Server: ${response.status} ${await response.text()}`)
    return (await response.json()) as { sessionToken: string }
  }
  const fields = { tenant: { type: 'String' }, key: { type: 'String' }, value: { type: 'Object' } }
  const anybody = { '*': true }
  const classLevelPermissions = { get: anybody, find: anybody, count: anybody, create: anybody, update: anybody }
  const schema = { className: 'Entry', fields, classLevelPermissions }
  await send('schemas/Entry', schema, { 'x-parse-master-key': MASTER_KEY })
  // With an explicit id, as for every object where clients may choose ids.
  const signUp = async ({ app }: Tenant) => {
    const { sessionToken } = await send('users', { objectId: app, username: app, password: randomUUID() })
    return [app, sessionToken] as const
  }
  const sessions = new Map(await Promise.all(tenants.map(signUp)))
  await runSql(
    database,
    `INSERT INTO "Entry" ("objectId", "createdAt", "updatedAt", tenant, key, value, _rperm, _wperm)
      SELECT "objectId" || '-key-' || n, now(), now(), "objectId", 'key-' || n, '${VALUE}', ARRAY["objectId"], ARRAY["objectId"]
      FROM "_User", generate_series(0, ${ENTRIES - 1}) n;
    CREATE INDEX ON "Entry" (tenant, key); ANALYZE`,
  )
  return sessions
}

/**
 * The storage requests in Parse Server's format. Its answer to a write has no value, so it is compared with no other server's.
 */
function requestSets({ tenants }: Bench, sessions: Map<string, string>): RequestSet[] {
  const set = (
    name: string,
    agreement: string,
    method: Request['method'],
    makePath: (app: string, i: number) => string,
    body?: string,
  ): RequestSet => ({
    name: `parse-${name}`,
    agreement,
    form: 'parse',
    masked: [],
    requests: byTenants(tenants, ({ app }, i) => {
      const own = { 'x-parse-application-id': APP_ID, 'x-parse-session-token': sessions.get(app)! }
      return {
        method,
        path: `/parse/classes/Entry${makePath(app, i)}`,
        body,
        headers: { ...own, ...contentHeaders(body) },
      }
    }),
  })
  const entry = (app: string, i: number) => `/${app}-key-${i % ENTRIES}`
  const where = (app: string) => encodeURIComponent(JSON.stringify({ tenant: app }))
  return [
    set('get', 'get', 'GET', entry),
    set('put', 'parse-put', 'PUT', entry, `{"value":${VALUE}}`),
    set('list', 'list', 'GET', (app) => `?where=${where(app)}&order=key&limit=${ENTRIES}&count=1`),
  ]
}
