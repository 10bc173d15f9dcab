import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'

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
  atEnd(async () => {
    await query(server, `DROP DATABASE ${name} WITH (FORCE)`)
  })
  return withName(server, name)
}

export const withName = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export async function query(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(sql).finally(() => client.end())
  return rows
}
