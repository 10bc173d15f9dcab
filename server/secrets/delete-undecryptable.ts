import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { int, statement } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { EncryptedColumn, EncryptedValue } from './encrypted-columns.ts'
import {
  check,
  encryptedValues,
  formerSubscriptions,
  formerTemplates,
  rsaSigningKeys,
  signingKeys,
  subscriptions,
  templates,
} from './encrypted-columns.ts'
import { CHECK_TEXT } from './keys.ts'

const forgetFormer = (table: 'App' | 'Subscription') =>
  statement(
    `undecryptable_former_${table}`,
    `UPDATE "${table}" SET "formerSecret" = NULL, "formerUntil" = NULL
      WHERE id = $1 AND "formerSecret" = $2 RETURNING 1 AS changed`,
    { changed: int },
  )

const deleteKey = (table: 'SigningKey' | 'RsaSigningKey') =>
  statement(
    `undecryptable_${table}`,
    `DELETE FROM "${table}" WHERE kid = $1 AND ciphertext = $2 RETURNING 1 AS changed`,
    { changed: int },
  )

/** $1 is the id, $2 the undecryptable value: a value set meanwhile stays. */
const statements = {
  template: statement(
    'undecryptable_template',
    `UPDATE "App" SET "webhookUrl" = NULL, "webhookSecret" = NULL, "secretSetAt" = NULL,
        "formerSecret" = NULL, "formerUntil" = NULL
      WHERE id = $1 AND "webhookSecret" = $2 RETURNING 1 AS changed`,
    { changed: int },
  ),
  signingKey: deleteKey('SigningKey'),
  rsaSigningKey: deleteKey('RsaSigningKey'),
  end: statement(
    'undecryptable_end',
    `UPDATE "Subscription" SET "endedAt" = coalesce("endedAt", $3::timestamptz)
      WHERE id = $1 AND secret = $2 RETURNING 1 AS changed`,
    { changed: int },
  ),
  /** In batches, so that no statement takes long. */
  fail: statement(
    'undecryptable_fail',
    `UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, lease = NULL, "leasedUntil" = NULL,
        "lastError" = 'the secret of the subscription was lost', "finishedAt" = $2::timestamptz
      WHERE id IN (SELECT id FROM "Delivery" WHERE "subscriptionId" = $1 AND state = 'pending' LIMIT 1000)
      RETURNING 1 AS changed`,
    { changed: int },
  ),
  clear: statement(
    'undecryptable_clear',
    `UPDATE "Subscription" SET url = NULL, secret = NULL, "formerSecret" = NULL, "formerUntil" = NULL
      WHERE id = $1 AND secret = $2 RETURNING 1 AS changed`,
    { changed: int },
  ),
  formerTemplate: forgetFormer('App'),
  formerSubscription: forgetFormer('Subscription'),
}

/**
 * Deletes values that no key decrypts, and returns their numbers. An address is deleted with its secret: its receiver would
 * refuse unsigned deliveries.
 */
export async function deleteUndecryptable(db: Database, cipher: Cipher, now: Date) {
  const at = now.toISOString()
  const run = async (statement: Statement, values: string[]) => (await db.execute(statement, values)).length
  const each = async (column: EncryptedColumn, remove: (value: EncryptedValue) => Promise<number>) => {
    let count = 0
    for await (const value of encryptedValues(db, column)) {
      if (cipher.keyIndex(value.ciphertext, column.associatedData(value.id)) === null) count += await remove(value)
    }
    return count
  }

  /** Clears the secret last, so that the next run continues an interrupted one. */
  const endSubscription = async ({ id, ciphertext }: EncryptedValue) => {
    if ((await run(statements.end, [id, ciphertext, at])) === 0) return 0
    while ((await run(statements.fail, [id, at])) > 0);
    return run(statements.clear, [id, ciphertext])
  }
  const all = (column: EncryptedColumn, statement: Statement) =>
    each(column, ({ id, ciphertext }) => run(statement, [id, ciphertext]))
  const deleted = {
    templates: await all(templates, statements.template),
    subscriptions: await each(subscriptions, endSubscription),
    formerSecrets:
      (await all(formerTemplates, statements.formerTemplate)) +
      (await all(formerSubscriptions, statements.formerSubscription)),
    signingKeys:
      (await all(signingKeys, statements.signingKey)) + (await all(rsaSigningKeys, statements.rsaSigningKey)),
  }
  // Last: until then no service starts with these keys.
  await each(check, ({ id, ciphertext }) =>
    run(check.replace, [id, ciphertext, cipher.encrypt(CHECK_TEXT, check.associatedData(id))]),
  )
  return deleted
}
