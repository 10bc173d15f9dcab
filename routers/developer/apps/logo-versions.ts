import { createHash } from 'node:crypto'
import type { Database } from '../../../prisma/client.ts'
import { statement, text, texts } from '../../../prisma/pg/statement.ts'

const logos = statement(
  'app_logos',
  `SELECT id, md5(logo) AS version FROM "App" WHERE id = ANY ($apps::text[]) AND logo IS NOT NULL`,
  { apps: texts },
  { id: text, version: text },
)

/** Logo versions by app; the bytes stay in the database. */
export async function logoVersions(db: Database, apps: readonly string[]): Promise<Map<string, string>> {
  const found = apps.length === 0 ? [] : await db.execute(logos, { apps })
  return new Map(found.map(({ id, version }) => [id, version]))
}

export const logoVersion = (logo: Uint8Array) => createHash('md5').update(logo).digest('hex')
