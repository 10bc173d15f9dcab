import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { limitSessions } from '../../prisma/session-limits.ts'

/** Registers what ends a resource: `onTestFinished`, or what a file runs in its `afterAll`. */
export type AtEnd = (end: () => Promise<void>) => void

/** The address of an empty database, dropped with the test. */
export const emptyDatabase = (atEnd: AtEnd = onTestFinished) => createDatabase('template1', atEnd)

/** The address of a migrated database without rows, dropped with the test. */
export const migratedDatabase = (atEnd: AtEnd = onTestFinished) => createDatabase(inject('migratedDatabase'), atEnd)

async function createDatabase(template: string, atEnd: AtEnd): Promise<string> {
  const server = inject('databaseUrl')
  const name = `${inject('databasePrefix')}_${randomBytes(6).toString('hex')}`
  await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  if (template !== 'template1') await limitOwnSessions(withName(server, name))
  atEnd(async () => {
    await query(server, `DROP DATABASE ${name} WITH (FORCE)`)
  })
  return withName(server, name)
}

/** The same database not through PgBouncer: for sessions of a test's own, and to see who waits for whom. */
export function direct(url: string): string {
  const { TEST_DATABASE_URL: given, TEST_DATABASE_DIRECT_URL: server } = process.env
  if (!given || !server || new URL(url).host !== new URL(given).host) return url
  return withName(server, new URL(url).pathname.slice(1))
}

export const withName = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href

/** As `migrate` does: a copy of a database has no settings of its own. */
export async function limitOwnSessions(url: string): Promise<void> {
  const client = new pg.Client(direct(url))
  await client.connect()
  await limitSessions(client).finally(() => client.end())
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export async function query(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client(direct(url))
  await client.connect()
  const { rows } = await client.query(sql).finally(() => client.end())
  return rows
}
