import { openDatabase } from '../../prisma/client.ts'
import { seed } from '../../prisma/seed.ts'
import { memberScopes, memberScopesAt } from '../../routers/kernel/scopes.ts'
import { developmentKey, mintToken } from '../../server/tokens/development.ts'

/** Writes the rows of the demo into a migrated database. */
export async function seedDemo(databaseUrl: string) {
  const db = openDatabase(databaseUrl, () => {})
  await seed(db, new Date(), memberScopesAt)
  await db.$disconnect()
}

export interface DemoClaims {
  /** By default one that no rate limits. */
  client?: string
  member?: string | null
  organisation?: string
  scope?: string
  expiresInSeconds?: number
}

/** A token as a service with this directory takes it: by default of Anna at her club, for two hours. */
export const demoToken = async (dataDir: string, claims: DemoClaims = {}) =>
  mintToken(await developmentKey(dataDir), {
    client: 'trainer-app-sandbox',
    member: 'anna',
    organisation: 'riverside',
    scope: memberScopes.join(' '),
    expiresInSeconds: 7_200,
    ...claims,
  })

/** What Anna's requests to the API of apps carry. */
export const headersOfAnna = async (dataDir: string, claims?: DemoClaims) => ({
  host: 'apps.localhost',
  authorization: `Bearer ${await demoToken(dataDir, claims)}`,
})
