import type { Database } from '../../prisma/client.ts'
import { int, nullable, oneOf, statement, text, uuid } from '../../prisma/pg/statement.ts'
import { textArrayOf } from '../../prisma/pg/text-array.ts'
import { retryingDeadlocks, sqlState } from '../kernel/database-errors.ts'
import { errors, ofOperation } from '../kernel/errors.ts'
import type { JsonText } from '../kernel/raw-json/text.ts'
import type { Reserve } from '../kernel/read-within.ts'
import { LARGE_BYTES } from '../kernel/read-within.ts'
import type { Collection, Conditions } from '../storage/statements.ts'
import { withStoreLock } from '../storage/store-lock.ts'

/** `value` is null but for a put. */
export interface Operation extends Pick<Collection, 'owner' | 'collection'>, Conditions {
  op: 'put' | 'delete' | 'get'
  key: string
  value: JsonText | null
}

const batchBy = (name: string, applied: 'storage_batch' | 'storage_batch_ruled') =>
  statement(
    name,
    `SELECT outcome, found_value AS value, found_version AS version, found_at AS "updatedAt", used
      FROM ${applied}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, to_timestamp($11), $12, $13)`,
    {
      outcome: oneOf('stored', 'deleted', 'absent', 'found', 'missing'),
      value: nullable(text),
      version: nullable(uuid),
      updatedAt: nullable(int),
      used: int,
    },
  )

const statements = {
  batch: batchBy('sync_batch', 'storage_batch'),
  batchRuled: batchBy('sync_batch_ruled', 'storage_batch_ruled'),
}

/** What an operation did: `absent` of a delete, `missing` of a get. */
export type Applied = Omit<ReturnType<typeof statements.batch.decode>, 'used'>

interface Batch {
  operations: readonly Operation[]
  updatedAt: number
  quotaBytes: number
}

/**
 * Applies the operations in one transaction; `ruled`: rules of the app bind the member. Throws 403 with the index of an operation that a rule refuses,
 * 412 with that of one whose precondition fails, and 413 where the store would exceed its quota, or the values read together would.
 */
export async function applyBatch(
  db: Database,
  { app, club, member, ruled }: { app: string; club: string; member: string | null; ruled: boolean },
  { operations, updatedAt, quotaBytes }: Batch,
  reserve: Reserve,
): Promise<{ applied: Applied[]; used: number }> {
  const arrays = (['op', 'owner', 'collection', 'key', 'value', 'ifMatch', 'ifNoneMatch'] as const).map((field) =>
    textArrayOf(operations.map((operation) => operation[field])),
  )
  const values = [app, club, member, ...arrays, String(updatedAt), String(quotaBytes)]
  let reserved = 0
  for (;;) {
    const maxBytes = Math.min(quotaBytes, Math.max(LARGE_BYTES, reserved))
    const execute = () => db.execute(ruled ? statements.batchRuled : statements.batch, [...values, String(maxBytes)])
    try {
      const applied = await withStoreLock({ app, club }, () => retryingDeadlocks(execute))
      return { applied, used: applied.at(-1)!.used }
    } catch (error) {
      const bytes = bytesRead(error)
      if (bytes > quotaBytes) throw errors.readsTooLarge()
      // Nothing was stored. The values may have grown since: only the difference is missing.
      await reserve(bytes - reserved)
      reserved = bytes
    }
  }
}

/** How much the batch would read, if that is why the database has refused it; throws any other refusal. */
function bytesRead(error: unknown): number {
  const { detail } = error as { detail?: string }
  const state = sqlState(error)
  if (state === 'SB001') throw ofOperation(Number(detail), errors.entryChanged())
  if (state === 'SB004') throw ofOperation(Number(detail), errors.entryNotOwn())
  if (state === 'SB002') throw errors.quotaExceeded()
  if (state !== 'SB003') throw error
  return Number(detail)
}
