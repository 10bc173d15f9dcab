import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import type { AtEnd } from './service.ts'

/** A database of its own for one test or file, empty, on the server that the tests have: to the service an outside one. */
export async function freshDatabase(atEnd: AtEnd = onTestFinished): Promise<string> {
  const name = `process_${randomUUID().replaceAll('-', '')}`
  const url = new URL(inject('databaseUrl'))
  await query(url.href, `CREATE DATABASE ${name}`)
  atEnd(async () => {
    await query(inject('databaseUrl'), `DROP DATABASE ${name} WITH (FORCE)`)
  })
  url.pathname = `/${name}`
  return url.href
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export async function query(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(sql).finally(() => client.end())
  return rows
}
