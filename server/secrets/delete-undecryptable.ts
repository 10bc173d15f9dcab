import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { instant, int, statement, text } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { EncryptedColumn, EncryptedValue } from './encrypted-columns.ts'
import {
  cardKeys,
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
      WHERE id = $id AND "formerSecret" = $ciphertext RETURNING 1 AS changed`,
    { id: text, ciphertext: text },
    { changed: int },
  )

const deleteKey = (table: 'SigningKey' | 'RsaSigningKey' | 'CardKey') =>
  statement(
    `undecryptable_${table}`,
    `DELETE FROM "${table}" WHERE kid = $id AND ciphertext = $ciphertext RETURNING 1 AS changed`,
    { id: text, ciphertext: text },
    { changed: int },
  )

/** `ciphertext` is the undecryptable value: a value set meanwhile stays. */
const statements = {
  template: statement(
    'undecryptable_template',
    `UPDATE "App" SET "webhookUrl" = NULL, "webhookSecret" = NULL, "secretSetAt" = NULL,
        "formerSecret" = NULL, "formerUntil" = NULL
      WHERE id = $id AND "webhookSecret" = $ciphertext RETURNING 1 AS changed`,
    { id: text, ciphertext: text },
    { changed: int },
  ),
  signingKey: deleteKey('SigningKey'),
  rsaSigningKey: deleteKey('RsaSigningKey'),
  cardKey: deleteKey('CardKey'),
  end: statement(
    'undecryptable_end',
    `UPDATE "Subscription" SET "endedAt" = coalesce("endedAt", $now::timestamptz)
      WHERE id = $id AND secret = $ciphertext RETURNING 1 AS changed`,
    { id: text, ciphertext: text, now: instant },
    { changed: int },
  ),
  /** In batches, so that no statement takes long. */
  fail: statement(
    'undecryptable_fail',
    `UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, lease = NULL, "leasedUntil" = NULL,
        "lastError" = 'the secret of the subscription was lost', "finishedAt" = $now::timestamptz
      WHERE id IN (SELECT id FROM "Delivery" WHERE "subscriptionId" = $id AND state = 'pending' LIMIT 1000)
      RETURNING 1 AS changed`,
    { id: text, now: instant },
    { changed: int },
  ),
  clear: statement(
    'undecryptable_clear',
    `UPDATE "Subscription" SET url = NULL, secret = NULL, "formerSecret" = NULL, "formerUntil" = NULL
      WHERE id = $id AND secret = $ciphertext RETURNING 1 AS changed`,
    { id: text, ciphertext: text },
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
  const run = async <V>(statement: Statement<V>, values: V) => (await db.execute(statement, values)).length
  const each = async (column: EncryptedColumn, remove: (value: EncryptedValue) => Promise<number>) => {
    let count = 0
    for await (const value of encryptedValues(db, column)) {
      if (cipher.keyIndex(value.ciphertext, column.associatedData(value.id)) === null) count += await remove(value)
    }
    return count
  }

  /** Clears the secret last, so that the next run continues an interrupted one. */
  const endSubscription = async ({ id, ciphertext }: EncryptedValue) => {
    if ((await run(statements.end, { id, ciphertext, now })) === 0) return 0
    while ((await run(statements.fail, { id, now })) > 0);
    return run(statements.clear, { id, ciphertext })
  }
  const all = (column: EncryptedColumn, statement: Statement<EncryptedValue>) =>
    each(column, (value) => run(statement, value))
  const deleted = {
    templates: await all(templates, statements.template),
    subscriptions: await each(subscriptions, endSubscription),
    formerSecrets:
      (await all(formerTemplates, statements.formerTemplate)) +
      (await all(formerSubscriptions, statements.formerSubscription)),
    signingKeys:
      (await all(signingKeys, statements.signingKey)) +
      (await all(rsaSigningKeys, statements.rsaSigningKey)) +
      (await all(cardKeys, statements.cardKey)),
  }
  // Last: until then no service starts with these keys.
  await each(check, ({ id, ciphertext }) =>
    run(check.replace, { id, current: ciphertext, next: cipher.encrypt(CHECK_TEXT, check.associatedData(id)) }),
  )
  return deleted
}
