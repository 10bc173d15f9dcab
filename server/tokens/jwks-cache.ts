import { createHash } from 'node:crypto'
import type { JSONWebKeySet } from 'jose'
import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'

const MODEL = 'OutsideKeys'

/**
 * The last good keys of an outside issuer, for a start while it is down. In the database, so that every node has them;
 * under everything that says whose they are, so that changed settings find nothing.
 */
export function jwksCache(db: Database, whose: unknown) {
  const id = createHash('sha256').update(JSON.stringify(whose)).digest('base64url')
  const address = { of: { model: MODEL, id } }
  let saved = ''
  return {
    async read(): Promise<JSONWebKeySet | null> {
      const row = await db.oauthRecord.findUnique({ where: address })
      return row && (row.payload as unknown as JSONWebKeySet)
    },
    async save(set: JSONWebKeySet) {
      const text = JSON.stringify(set)
      if (text === saved) return
      const payload = set as unknown as Prisma.InputJsonObject
      await db.oauthRecord.upsert({
        where: address,
        create: { model: MODEL, id, payload },
        update: { payload },
      })
      saved = text
    },
  }
}
