import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { EncryptedColumn, EncryptedValue } from './encrypted-columns.ts'
import { encryptedColumns, encryptedValues } from './encrypted-columns.ts'

/** Encrypts the other keys' values with the first key, while services run; returns their number. */
export async function reencrypt(db: Database, cipher: Cipher): Promise<number> {
  let done = 0
  for (const column of encryptedColumns) {
    for await (const value of encryptedValues(db, column)) {
      if (await reencryptValue(db, cipher, column, value)) done++
    }
  }
  return done
}

/** Replaces only the value that was read; a value set meanwhile is read again. */
async function reencryptValue(
  db: Database,
  cipher: Cipher,
  column: EncryptedColumn,
  { id, ciphertext }: EncryptedValue,
) {
  const associatedData = column.associatedData(id)
  let current: string | undefined = ciphertext
  while (current !== undefined) {
    const key = cipher.keyIndex(current, associatedData)
    if (key === 0 || key === null) return false
    const next = cipher.encrypt(cipher.decrypt(current, associatedData), associatedData)
    const replaced = await db.execute(column.replace, { id, current, next })
    if (replaced.length > 0) return true
    const [row] = await db.execute(column.find, { id })
    current = row?.ciphertext
  }
  return false
}
