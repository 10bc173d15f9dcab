import type { Database } from '../../prisma/client.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Cipher } from './cipher.ts'
import { associatedData } from './cipher.ts'
import { errors } from './errors.ts'

const selectCheck = statement(
  'secrets_check',
  'SELECT ciphertext FROM "SecretsKeyCheck" WHERE id = 1',
  {},
  {
    ciphertext: text,
  },
)

/** A text that the first start has encrypted, and each rotation encrypts again; null before the first start. */
export async function storedCheck(db: Database): Promise<string | null> {
  const [row] = await db.execute(selectCheck, {})
  return row?.ciphertext ?? null
}

export const decryptsCheck = (cipher: Cipher, check: string) => cipher.keyIndex(check, associatedData.check()) !== null

/** Whether this process has the key of the secrets in the database; a rotation may have left it behind. */
export async function hasSecretsKey(db: Database, cipher: Cipher): Promise<boolean> {
  const check = await storedCheck(db)
  return check === null || decryptsCheck(cipher, check)
}

/** Encrypts a secret that is to be stored. Throws 503 where no other process could decrypt it. */
export async function seal({ db, cipher }: { db: Database; cipher: Cipher }, secret: string, associatedData: string) {
  if (await hasSecretsKey(db, cipher)) return cipher.encrypt(secret, associatedData)
  throw errors.unavailable(new Error('SECRETS_KEY is not the key of the secrets in this database.'))
}
