import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../prisma/migrate.ts'
import { temporaryServer } from './temporary-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

/** One database for the whole run: new, migrated, and gone afterwards. Of TEST_DATABASE_URL's server, or embedded. */
export default async function setup(project: TestProject) {
  const outside = process.env.TEST_DATABASE_URL
  const { url, remove } = outside ? await createOutside(outside) : await createEmbedded()
  await migrate(url)
  project.provide('databaseUrl', url)
  return remove
}

async function createOutside(admin: string) {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const run = async (statement: string) => {
    const client = new pg.Client(admin)
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await run(`CREATE DATABASE ${name}`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, remove: () => run(`DROP DATABASE ${name} WITH (FORCE)`) }
}

async function createEmbedded() {
  const { url, stop } = await temporaryServer()
  return { url, remove: stop }
}
