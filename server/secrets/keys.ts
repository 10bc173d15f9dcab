import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { createCipher } from './cipher.ts'
import { check, readPage, sealedTables } from './encrypted-columns.ts'
import { createOnceFile } from './private-file.ts'

const FILE = 'secrets-key'

export interface SecretsSettings {
  secretsKeys: readonly Buffer[] | undefined
  dataDir: string
}

/** The keys of SECRETS_KEY, else one in a file of the data directory, created on first use. */
export async function secretsKeysOf({ secretsKeys, dataDir }: SecretsSettings): Promise<readonly Buffer[]> {
  if (secretsKeys) return secretsKeys
  return [Buffer.from(await createOnceFile(dataDir, FILE, () => randomBytes(32).toString('base64')), 'base64')]
}

/** The keys and what seals with them, once they are known to be those of the database; throws where they are not. */
export async function openSecrets(
  settings: SecretsSettings & { databaseUrl: string | undefined },
  db: Database,
  log: Logger,
) {
  if (settings.databaseUrl && !settings.secretsKeys) {
    log.warn('SECRETS_KEY is not set: secrets and signing keys are sealed with a key that is kept in DATA_DIR')
  }
  const keys = await secretsKeysOf(settings)
  const cipher = createCipher(keys)
  await checkSecretsKey(db, cipher)
  return { keys, cipher }
}

/** What the row of the check holds, sealed. */
export const CHECK_TEXT = 'member-apps-api'

/**
 * Throws when the keys are not those of this database. The first start leaves a sealed text there, which every later one
 * has to open: else a wrong key would be found with the first delivery.
 */
export async function checkSecretsKey(db: Database, cipher: Cipher): Promise<void> {
  const find = () => db.secretsKeyCheck.findUnique({ where: { id: 1 } })
  if (!(await find())) {
    // Of the time before there was a check.
    if (await hasForeignAlone(db, cipher)) throw wrongKey()
    const ciphertext = cipher.encrypt(CHECK_TEXT, check.place('1'))
    // Of several nodes that start at once, one leaves its text.
    await db.$executeRaw`INSERT INTO "SecretsKeyCheck" (id, ciphertext) VALUES (1, ${ciphertext}) ON CONFLICT DO NOTHING`
  }
  const { ciphertext } = (await find())!
  if (cipher.keyIndex(ciphertext, check.place('1')) === null) throw wrongKey()
}

/** Whether there are sealed values, and none of the first of each table opens. */
async function hasForeignAlone(db: Database, cipher: Cipher): Promise<boolean> {
  let found = 0
  for (const table of sealedTables) {
    const page = await readPage(db, table, '')
    if (page.some(({ id, sealed }) => cipher.keyIndex(sealed, table.place(id)) !== null)) return false
    found += page.length
  }
  return found > 0
}

const wrongKey = () =>
  new Error(
    [
      'SECRETS_KEY is not the key that encrypted the secrets in this database.',
      `Set the key of the other nodes, or the former one. If it was never set, it is in the file ${FILE} of DATA_DIR.`,
      'If that key is lost, npm run -s secrets -- forget deletes what it encrypted.',
    ].join('\n'),
  )
