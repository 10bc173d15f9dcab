import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { developmentKey, mintToken } from '../../server/tokens/development.ts'
import { migratedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { dataDirectory } from './service.ts'

/** Keys as SECRETS_KEY has them. */
export const newKey = () => randomBytes(32).toString('base64')
export const createSealer = (...keys: string[]) => createCipher(keys.map((key) => Buffer.from(key, 'base64')))

/** A database of its own with a provider, whose apps a client of its team may set webhooks for. */
export async function startTenant(apps: number) {
  const DATABASE_URL = await migratedDatabase()
  const DATA_DIR = await dataDirectory()
  const db = openTestDatabase(DATABASE_URL)
  onTestFinished(() => db.$disconnect())
  await db.organisation.create({ data: { id: 'provider', kind: 'provider', name: 'Provider' } })
  await db.person.create({ data: { id: 'mia', firstName: 'Mia', lastName: 'Member', email: 'mia@example.org' } })
  await db.membership.create({ data: { organisationId: 'provider', personId: 'mia' } })
  await db.team.create({ data: { id: 'team', name: 'Team', level: 'developer' } })
  // In the sandbox, as its clients have no limit of requests.
  await db.client.create({ data: { id: 'client', name: 'Client', teamId: 'team', environment: 'sandbox' } })
  const ids = Array.from({ length: apps }, (_, n) => `app-${n}`)
  await db.app.createMany({ data: ids.map((id) => ({ id, name: 'App', teamId: 'team', providerId: 'provider' })) })

  const env = (...keys: string[]) => ({ DATABASE_URL, DATA_DIR, SECRETS_KEY: keys.join(','), LOG_LEVEL: 'warn' })
  return {
    db,
    apps: ids,
    env,
    token: async () =>
      mintToken(await developmentKey(DATA_DIR), {
        member: 'mia',
        organisation: 'provider',
        client: 'client',
        expiresInSeconds: 3600,
        scope: 'ntf.apps.webhook:read ntf.apps.webhook:update',
      }),
  }
}

/** Templates, and to each a subscription that took it over, with a secret that one key has sealed. */
export async function addSecrets(db: Database, key: string, apps: readonly string[]) {
  const cipher = createSealer(key)
  const templates = apps.map((id) => cipher.encrypt(makeSecret(id), associatedData.template(id)))
  await db.$executeRaw`
    UPDATE "App" SET "webhookUrl" = 'https://example.org/' || id, "webhookSecret" = sealed
    FROM unnest(${apps}::text[], ${templates}::text[]) template (app, sealed) WHERE id = app`
  await db.subscription.createMany({
    data: apps.map((appId) => {
      const [id, url] = [`of-${appId}`, `https://example.org/${appId}`]
      const secret = cipher.encrypt(makeSecret(appId), associatedData.subscription(id))
      return { id, appId, subscriber: 's', url, secret }
    }),
  })
}

/** Former secrets of these apps and of their subscriptions, which are in force. */
export async function addFormerSecrets(db: Database, key: string, apps: readonly string[]) {
  const cipher = createSealer(key)
  const formerUntil = new Date(Date.now() + 3_600_000)
  for (const app of apps) {
    const formerSecret = cipher.encrypt(`former ${makeSecret(app)}`, associatedData.formerTemplate(app))
    await db.app.update({ where: { id: app }, data: { formerSecret, formerUntil } })
    const id = `of-${app}`
    const copy = cipher.encrypt(`former ${makeSecret(app)}`, associatedData.formerSubscription(id))
    await db.subscription.update({ where: { id }, data: { formerSecret: copy, formerUntil } })
  }
}

export const makeSecret = (app: string) => `secret of ${app}`

/** What `check` prints: of each table, how many values the first key opens, another, and none. */
export const parseCounts = (stdout: string) =>
  Object.fromEntries(
    [...stdout.matchAll(/^([A-Z]\w+\.\w+) +(\d+) +(\d+) +(\d+)$/gm)].map(([, name, ...counts]) => [
      name,
      counts.map(Number),
    ]),
  )
