import { createHash } from 'node:crypto'
import type { JSONWebKeySet } from 'jose'
import type { Database } from '../../prisma/client.ts'
import { jsonText, statement, text } from '../../prisma/pg/statement.ts'

const find = statement(
  'key_set_find',
  'SELECT "keySet"::text AS "keySet" FROM "ExternalKeySet" WHERE id = $id',
  { id: text },
  {
    keySet: text,
  },
)

const store = statement(
  'key_set_store',
  `INSERT INTO "ExternalKeySet" (id, "keySet") VALUES ($id, $keySet)
  ON CONFLICT (id) DO UPDATE SET "keySet" = EXCLUDED."keySet"`,
  { id: text, keySet: jsonText },
  {},
)

/**
 * An external issuer's last valid key set, for a start while the issuer is down. It is in the database, where every node finds
 * it, under a hash of the issuer's settings: changed settings do not find the old keys.
 */
export function storedKeySet(db: Database, settings: unknown) {
  const id = createHash('sha256').update(JSON.stringify(settings)).digest('base64url')
  let saved = ''
  return {
    /** Null before the first `save`. */
    async read(): Promise<JSONWebKeySet | null> {
      const [row] = await db.execute(find, { id })
      return row ? JSON.parse(row.keySet) : null
    },
    async save(set: JSONWebKeySet) {
      const keySet = JSON.stringify(set)
      if (keySet === saved) return
      await db.execute(store, { id, keySet })
      saved = keySet
    },
  }
}
