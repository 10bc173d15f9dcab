import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Bench } from './database.ts'
import { runSql } from './database.ts'
import { removedAnyway } from './interrupted.ts'
import type { Request, RequestSet } from './load-process.ts'
import type { Server } from './process.ts'
import { startServer } from './process.ts'
import { byTenants } from './requests.ts'
import type { Tenant } from './routes.ts'
import { ENTRIES, VALUE } from './storage-routes.ts'

const APP_ID = 'bench'
const MASTER_KEY = randomUUID()
const program = fileURLToPath(new URL('peers/parse.mjs', import.meta.url))

/** Parse Server with the entries of every tenant, on a database of its own. */
export async function startParse(bench: Bench): Promise<Server & { sets: RequestSet[] }> {
  const database = `${new URL(bench.url).pathname.slice(1)}_parse`
  const url = new URL(bench.url)
  url.pathname = `/${database}`
  await runSql(bench.url, `CREATE DATABASE ${database}`)
  const drop = removedAnyway(() => runSql(bench.url, `DROP DATABASE ${database} WITH (FORCE)`))
  try {
    // Without files of its log in this directory.
    const logs = { PARSE_SERVER_LOGS_FOLDER: 'null' }
    const env = { DATABASE_URL: url.href, APP_ID, MASTER_KEY, NODE_ENV: 'production', ...logs }
    const server = await startServer([program], env)
    const stop = () => server.stop().then(drop)
    try {
      const sessions = await fill(server.port, url.href, bench)
      return { ...server, stop, sets: requestSets(bench, sessions) }
    } catch (error) {
      await server.stop()
      throw error
    }
  } catch (error) {
    await drop()
    throw error
  }
}

/** Creates the class, and for each tenant a user who alone may read and write its entries; returns their session tokens. */
async function fill(port: number, database: string, { tenants }: Bench): Promise<string[]> {
  const send = async (path: string, body: object, master = {}) => {
    const headers = { 'x-parse-application-id': APP_ID, 'content-type': 'application/json', ...master }
    const url = `http://127.0.0.1:${port}/parse/${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`Parse Server: ${response.status} ${await response.text()}`)
    return (await response.json()) as { objectId: string; sessionToken: string }
  }
  const fields = { tenant: { type: 'String' }, key: { type: 'String' }, value: { type: 'Object' } }
  const anybody = { '*': true }
  const classLevelPermissions = { get: anybody, find: anybody, count: anybody, create: anybody, update: anybody }
  const master = { 'x-parse-master-key': MASTER_KEY }
  await send('schemas/Entry', { className: 'Entry', fields, classLevelPermissions }, master)
  // With an id of its own, as every object of an installation that lets clients choose ids.
  const signUp = ({ app }: Tenant) => send('users', { objectId: app, username: app, password: randomUUID() })
  const users = await Promise.all(tenants.map(signUp))
  await runSql(database, ENTRIES_OF_USERS)
  return users.map(({ sessionToken }) => sessionToken)
}

const ENTRIES_OF_USERS = `
  INSERT INTO "Entry" ("objectId", "createdAt", "updatedAt", tenant, key, value, _rperm, _wperm)
  SELECT "objectId" || '-key-' || n, now(), now(), "objectId", 'key-' || n, '${VALUE}', ARRAY["objectId"], ARRAY["objectId"]
  FROM "_User", generate_series(0, ${ENTRIES - 1}) n;
  CREATE INDEX ON "Entry" (tenant, key); ANALYZE`

/** The requests of storage in Parse Server's form. Its answer to a write has no value, so it agrees with nobody else's. */
function requestSets({ tenants }: Bench, sessions: readonly string[]): RequestSet[] {
  const set = (name: string, agreement: string, request: (app: string, i: number) => Omit<Request, 'headers'>) => ({
    ...{ name: `parse-${name}`, agreement, form: 'parse' as const, masked: [] },
    requests: byTenants(tenants, ({ app }, i) => {
      const session = sessions[tenants.findIndex((tenant) => tenant.app === app)]!
      const { method, path, body } = request(app, i)
      const headers = { 'x-parse-application-id': APP_ID, 'x-parse-session-token': session }
      const content = body && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
      return { method, path, body, headers: { ...headers, ...content } }
    }),
  })
  const entry = (app: string, i: number) => `/parse/classes/Entry/${app}-key-${i % ENTRIES}`
  return [
    set('get', 'get', (app, i) => ({ method: 'GET', path: entry(app, i), body: undefined })),
    set('put', 'parse-put', (app, i) => ({ method: 'PUT', path: entry(app, i), body: `{"value":${VALUE}}` })),
    set('list', 'list', (app) => {
      const where = encodeURIComponent(JSON.stringify({ tenant: app }))
      const path = `/parse/classes/Entry?where=${where}&order=key&limit=${ENTRIES}&count=1`
      return { method: 'GET', path, body: undefined }
    }),
  ]
}
