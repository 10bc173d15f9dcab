import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { int, statement } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/cipher.ts'
import type { SealedTable, SealedValue } from './encrypted-columns.ts'
import { check, sealedValues, signingKeys, subscriptions, templates } from './encrypted-columns.ts'
import { CHECK_TEXT } from './keys.ts'

/** $1 is the id. With the value that no key opens, what is set meanwhile stays. */
const statements = {
  template: statement(
    'forget_template',
    `UPDATE "App" SET "webhookUrl" = NULL, "webhookSecret" = NULL
      WHERE id = $1 AND "webhookSecret" = $2 RETURNING 1 AS changed`,
    { changed: int },
  ),
  signingKey: statement(
    'forget_signing_key',
    'DELETE FROM "SigningKey" WHERE kid = $1 AND ciphertext = $2 RETURNING 1 AS changed',
    { changed: int },
  ),
  end: statement(
    'forget_end',
    `UPDATE "Subscription" SET "endedAt" = coalesce("endedAt", $3::timestamptz)
      WHERE id = $1 AND secret = $2 RETURNING 1 AS changed`,
    { changed: int },
  ),
  /** In batches, so that no statement takes long. */
  fail: statement(
    'forget_fail',
    `UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, lease = NULL, "leasedUntil" = NULL,
        "lastError" = 'the secret of the subscription was lost', "finishedAt" = $2::timestamptz
      WHERE id IN (SELECT id FROM "Delivery" WHERE "subscriptionId" = $1 AND state = 'pending' LIMIT 1000)
      RETURNING 1 AS changed`,
    { changed: int },
  ),
  clear: statement(
    'forget_clear',
    'UPDATE "Subscription" SET url = NULL, secret = NULL WHERE id = $1 AND secret = $2 RETURNING 1 AS changed',
    { changed: int },
  ),
}

/**
 * Removes what none of our keys opens. An address goes with its secret, as a delivery without the secret that its
 * receiver expects would be worse than none.
 */
export async function forget(db: Database, cipher: Cipher, now: Date) {
  const at = now.toISOString()
  const run = async (statement: Statement, values: string[]) => (await db.execute(statement, values)).length
  const each = async (table: SealedTable, remove: (value: SealedValue) => Promise<number>) => {
    let count = 0
    for await (const value of sealedValues(db, table)) {
      if (cipher.keyIndex(value.sealed, table.place(value.id)) === null) count += await remove(value)
    }
    return count
  }

  /** The secret goes last: what is broken off in between is found again. */
  const endSubscription = async ({ id, sealed }: SealedValue) => {
    if ((await run(statements.end, [id, sealed, at])) === 0) return 0
    while ((await run(statements.fail, [id, at])) > 0);
    return run(statements.clear, [id, sealed])
  }
  const gone = {
    templates: await each(templates, ({ id, sealed }) => run(statements.template, [id, sealed])),
    subscriptions: await each(subscriptions, endSubscription),
    signingKeys: await each(signingKeys, ({ id, sealed }) => run(statements.signingKey, [id, sealed])),
  }
  // Last, so that nothing starts between what is gone and what is not.
  await each(check, ({ id, sealed }) => run(check.replace, [id, sealed, cipher.encrypt(CHECK_TEXT, check.place(id))]))
  return gone
}
