import { createHash } from 'node:crypto'
import type { JSONWebKeySet } from 'jose'
import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'

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
      const row = await db.externalKeySet.findUnique({ where: { id } })
      return row && (row.keySet as unknown as JSONWebKeySet)
    },
    async save(set: JSONWebKeySet) {
      const text = JSON.stringify(set)
      if (text === saved) return
      const keySet = set as unknown as Prisma.InputJsonObject
      await db.externalKeySet.upsert({ where: { id }, create: { id, keySet }, update: { keySet } })
      saved = text
    },
  }
}
