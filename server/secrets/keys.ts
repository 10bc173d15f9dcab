import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../prisma/client.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { decryptsCheck, storedCheck } from '../../routers/kernel/secrets-key.ts'
import { createCipher } from './cipher.ts'
import { check, encryptedColumns, readPage } from './encrypted-columns.ts'
import { createOnceFile } from './private-file.ts'

const FILE = 'secrets-key'

export interface SecretsSettings {
  secretsKeys: readonly Buffer[] | undefined
  dataDir: string
}

/** The keys of SECRETS_KEY, else one in a file of the data directory, created on first use. */
export async function readSecretsKeys({ secretsKeys, dataDir }: SecretsSettings): Promise<readonly Buffer[]> {
  if (secretsKeys) return secretsKeys
  return [Buffer.from(await createOnceFile(dataDir, FILE, () => randomBytes(32).toString('base64')), 'base64')]
}

/** The same keys; undefined when there are none yet. */
export async function existingSecretsKeys(settings: SecretsSettings): Promise<readonly Buffer[] | undefined> {
  const { secretsKeys, dataDir } = settings
  const found = secretsKeys ?? (await readFile(join(dataDir, FILE), 'utf8').catch(() => undefined))
  return found ? readSecretsKeys(settings) : undefined
}

/** Throws when the keys are not this database's. */
export async function openSecrets(settings: SecretsSettings, db: Database) {
  const keys = await readSecretsKeys(settings)
  const cipher = createCipher(keys)
  await checkSecretsKey(db, cipher)
  return { keys, cipher }
}

export const CHECK_TEXT = 'member-apps-api'

const storeCheck = statement(
  'secrets_check_store',
  'INSERT INTO "SecretsKeyCheck" (id, ciphertext) VALUES (1, $ciphertext) ON CONFLICT DO NOTHING',
  { ciphertext: text },
  {},
)

/**
 * Throws when the keys are not this database's. The first start stores an encrypted text that every later start must decrypt;
 * without it a wrong key would only show at the first delivery.
 */
export async function checkSecretsKey(db: Database, cipher: Cipher): Promise<void> {
  let stored = await storedCheck(db)
  if (stored === null) {
    // Secrets may be older than the check.
    if (await hasOnlyForeignValues(db, cipher)) throw wrongKey()
    const ciphertext = cipher.encrypt(CHECK_TEXT, check.associatedData('1'))
    // Several nodes may start at once: the first one's text stays.
    await db.execute(storeCheck, { ciphertext })
    stored = (await storedCheck(db))!
  }
  if (!decryptsCheck(cipher, stored)) throw wrongKey()
}

/** Throws when a service has stored the check with keys that these lack. Stores nothing. */
export async function requireSecretsKey(db: Database, keys: readonly Buffer[] | undefined): Promise<void> {
  const stored = await storedCheck(db)
  if (stored !== null && !(keys && decryptsCheck(createCipher(keys), stored))) throw wrongKey()
}

/** Whether there are encrypted values, and the cipher decrypts none on each column's first page. */
async function hasOnlyForeignValues(db: Database, cipher: Cipher): Promise<boolean> {
  let found = 0
  for (const column of encryptedColumns) {
    const page = await readPage(db, column, '')
    if (page.some(({ id, ciphertext }) => cipher.keyIndex(ciphertext, column.associatedData(id)) !== null)) return false
    found += page.length
  }
  return found > 0
}

const wrongKey = () =>
  new Error(
    [
      'SECRETS_KEY is not the key that encrypted the secrets in this database.',
      `Set the key of the other nodes, or the previous one. If it was never set, it is in the file ${FILE} of DATA_DIR.`,
      'If that key is lost, member-apps secrets forget deletes what it encrypted.',
    ].join('\n'),
  )
