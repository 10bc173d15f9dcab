import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { associatedData } from '../../routers/cipher.ts'

/** A column of sealed values: how its rows are read, and changed while others write them. */
export interface SealedTable {
  /** `App.webhookSecret` */
  name: string
  place: (id: string) => string
  /** $1: the id after which to begin. */
  page: Statement<SealedValue>
  /** $1: the id. */
  find: Statement<Pick<SealedValue, 'sealed'>>
  /** $1: the id, $2: the value as it was read, $3: the new one. No row: it was changed meanwhile. */
  replace: Statement
}

export interface SealedValue {
  id: string
  sealed: string
}

const PAGE = 500

function sealedTable(table: string, id: string, column: string, place: SealedTable['place']): SealedTable {
  return {
    name: `${table}.${column}`,
    place,
    page: statement(
      `sealed_page_${table}`,
      `SELECT "${id}"::text AS id, "${column}" AS sealed FROM "${table}"
       WHERE "${id}"::text > $1 AND "${column}" IS NOT NULL ORDER BY "${id}"::text LIMIT ${PAGE}`,
      { id: text, sealed: text },
    ),
    find: statement(
      `sealed_find_${table}`,
      `SELECT "${column}" AS sealed FROM "${table}" WHERE "${id}"::text = $1 AND "${column}" IS NOT NULL`,
      { sealed: text },
    ),
    replace: statement(
      `sealed_replace_${table}`,
      `UPDATE "${table}" SET "${column}" = $3 WHERE "${id}"::text = $1 AND "${column}" = $2 RETURNING 1 AS replaced`,
      { replaced: int },
    ),
  }
}

export const templates = sealedTable('App', 'id', 'webhookSecret', associatedData.template)
export const subscriptions = sealedTable('Subscription', 'id', 'secret', associatedData.subscription)
export const signingKeys = sealedTable('SigningKey', 'kid', 'ciphertext', associatedData.signingKey)
export const check = sealedTable('SecretsKeyCheck', 'id', 'ciphertext', associatedData.check)

/** All that is kept sealed. */
export const sealedTables: readonly SealedTable[] = [templates, subscriptions, signingKeys, check]

export const readPage = (db: Database, { page }: SealedTable, after: string) => db.execute(page, [after])

/** Every value of a table, page by page, in the order of the ids. */
export async function* sealedValues(db: Database, table: SealedTable): AsyncGenerator<SealedValue> {
  let after = ''
  for (;;) {
    const page = await readPage(db, table, after)
    yield* page
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}

/** Of a table, how many values the first key opens, another one of ours, and none. */
export interface Count {
  name: string
  first: number
  other: number
  none: number
}

export async function countSealed(db: Database, cipher: Cipher): Promise<Count[]> {
  const counts: Count[] = []
  for (const table of sealedTables) {
    const count = { name: table.name, first: 0, other: 0, none: 0 }
    for await (const { id, sealed } of sealedValues(db, table)) {
      const key = cipher.keyIndex(sealed, table.place(id))
      count[key === null ? 'none' : key === 0 ? 'first' : 'other']++
    }
    counts.push(count)
  }
  return counts
}
