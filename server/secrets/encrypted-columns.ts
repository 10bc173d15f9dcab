import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { associatedData } from '../../routers/kernel/cipher.ts'

/** A column of encrypted values, with the statements that read and replace them while services write. */
export interface EncryptedColumn {
  name: string
  associatedData: (id: string) => string
  page: Statement<{ after: string }, EncryptedValue>
  find: Statement<{ id: string }, Pick<EncryptedValue, 'ciphertext'>>
  /** `current` is the value that was read. Changes no row when the value has changed since. */
  replace: Statement<{ id: string; current: string; next: string }>
}

export interface EncryptedValue {
  id: string
  ciphertext: string
}

const PAGE = 500

function encryptedColumn(
  table: string,
  id: string,
  column: string,
  associatedData: EncryptedColumn['associatedData'],
): EncryptedColumn {
  return {
    name: `${table}.${column}`,
    associatedData,
    page: statement(
      `encrypted_page_${table}_${column}`,
      `SELECT "${id}"::text AS id, "${column}" AS ciphertext FROM "${table}"
       WHERE "${id}"::text > $after AND "${column}" IS NOT NULL ORDER BY "${id}"::text LIMIT ${PAGE}`,
      { after: text },
      { id: text, ciphertext: text },
    ),
    find: statement(
      `encrypted_find_${table}_${column}`,
      `SELECT "${column}" AS ciphertext FROM "${table}" WHERE "${id}"::text = $id AND "${column}" IS NOT NULL`,
      { id: text },
      { ciphertext: text },
    ),
    replace: statement(
      `encrypted_replace_${table}_${column}`,
      `UPDATE "${table}" SET "${column}" = $next WHERE "${id}"::text = $id AND "${column}" = $current RETURNING 1 AS replaced`,
      { id: text, current: text, next: text },
      { replaced: int },
    ),
  }
}

export const templates = encryptedColumn('App', 'id', 'webhookSecret', associatedData.template)
export const formerTemplates = encryptedColumn('App', 'id', 'formerSecret', associatedData.formerTemplate)
export const subscriptions = encryptedColumn('Subscription', 'id', 'secret', associatedData.subscription)
export const formerSubscriptions = encryptedColumn(
  'Subscription',
  'id',
  'formerSecret',
  associatedData.formerSubscription,
)
export const signingKeys = encryptedColumn('SigningKey', 'kid', 'ciphertext', associatedData.signingKey)
export const rsaSigningKeys = encryptedColumn('RsaSigningKey', 'kid', 'ciphertext', associatedData.rsaSigningKey)
export const cardKeys = encryptedColumn('CardKey', 'kid', 'ciphertext', associatedData.cardKey)
export const check = encryptedColumn('SecretsKeyCheck', 'id', 'ciphertext', associatedData.check)

/**
 * The check comes first: a process without the new key no longer writes secrets by the time the others are re-encrypted. A column
 * comes before those that its values are copied to: a copy is only stored while its original is as it was read.
 */
export const encryptedColumns: readonly EncryptedColumn[] = [
  ...[check, templates, formerTemplates, subscriptions, formerSubscriptions],
  ...[signingKeys, rsaSigningKeys, cardKeys],
]

export const readPage = (db: Database, { page }: EncryptedColumn, after: string) => db.execute(page, { after })

/** Reads pages, in the order of ids. */
export async function* encryptedValues(db: Database, column: EncryptedColumn): AsyncGenerator<EncryptedValue> {
  let after = ''
  for (;;) {
    const page = await readPage(db, column, after)
    yield* page
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}

/** The numbers of a column's values that the first key, another key, and no key decrypts. */
export interface KeyCounts {
  name: string
  first: number
  other: number
  none: number
}

export async function countByKey(db: Database, cipher: Cipher): Promise<KeyCounts[]> {
  const counts: KeyCounts[] = []
  for (const column of encryptedColumns) {
    const count = { name: column.name, first: 0, other: 0, none: 0 }
    for await (const { id, ciphertext } of encryptedValues(db, column)) {
      const key = cipher.keyIndex(ciphertext, column.associatedData(id))
      count[key === null ? 'none' : key === 0 ? 'first' : 'other']++
    }
    counts.push(count)
  }
  return counts
}
