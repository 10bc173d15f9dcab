import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../prisma/client.ts'
import { migrate } from '../../prisma/migrate.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { SECRETS_KEY } from './secrets-key.ts'
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
  await leaveCheck(url)
  project.provide('databaseUrl', url)
  return remove
}

/** Tests leave secrets of many keys there, among which a service would not find its own. */
async function leaveCheck(url: string) {
  const db = openDatabase(url, () => {})
  const cipher = createCipher([Buffer.from(SECRETS_KEY, 'base64')])
  await checkSecretsKey(db, cipher).finally(() => db.$disconnect())
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
