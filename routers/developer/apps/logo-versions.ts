import { createHash } from 'node:crypto'
import type { Database } from '../../../prisma/client.ts'
import { arrayOf } from '../../../prisma/pg/array-literal.ts'
import { statement, text } from '../../../prisma/pg/statement.ts'

const logos = statement(
  'app_logos',
  `SELECT id, md5(logo) AS version FROM "App" WHERE id = ANY ($1::text[]) AND logo IS NOT NULL`,
  { id: text, version: text },
)

/** Logo versions by app; the bytes stay in the database. */
export async function logoVersions(db: Database, apps: readonly string[]): Promise<Map<string, string>> {
  const found = apps.length === 0 ? [] : await db.execute(logos, [arrayOf(apps)])
  return new Map(found.map(({ id, version }) => [id, version]))
}

export const logoVersion = (logo: Uint8Array) => createHash('md5').update(logo).digest('hex')
