import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import type { SealedTable, SealedValue } from './encrypted-columns.ts'
import { sealedTables, sealedValues } from './encrypted-columns.ts'

/** Seals anew whatever another of our keys has sealed, while services run; says how many values that were. */
export async function reencrypt(db: Database, cipher: Cipher): Promise<number> {
  let done = 0
  for (const table of sealedTables) {
    for await (const value of sealedValues(db, table)) {
      if (await sealRow(db, cipher, table, value)) done++
    }
  }
  return done
}

/** Replaces the value that was read, and no other: what is set meanwhile stays, and is looked at in its turn. */
async function sealRow(db: Database, cipher: Cipher, table: SealedTable, { id, sealed }: SealedValue) {
  const place = table.place(id)
  let current: string | undefined = sealed
  while (current !== undefined) {
    const key = cipher.keyIndex(current, place)
    if (key === 0 || key === null) return false
    const anew = cipher.encrypt(cipher.decrypt(current, place), place)
    const replaced = await db.execute(table.replace, [id, current, anew])
    if (replaced.length > 0) return true
    const [row] = await db.execute(table.find, [id])
    current = row?.sealed
  }
  return false
}
