import type { Database } from '../../prisma/client.ts'
import { toArrayLiteral } from '../../prisma/pg/array-literal.ts'
import { bool, float, int, largeTexts, nullable, oneOf, statement, text, uuid } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks, sqlState } from '../kernel/database-errors.ts'
import { errors, nameOperation } from '../kernel/errors.ts'
import type { Reserve } from '../kernel/read-within.ts'
import { LARGE_BYTES } from '../kernel/read-within.ts'
import { isEdit, resolveEdits } from './edit.ts'
import type { Request } from './operation.ts'
import { withStoreLock } from './store-lock.ts'

const COLUMNS = 'outcome, found_value AS value, found_version AS version, found_at AS "updatedAt", used'
const OPERATIONS = `$app, $club, $member, $ops, $owners, $collections, $keys, $values, $ifMatch, $ifNoneMatch,
  to_timestamp($at), $quotaBytes, $maxBytes`
const parameters = {
  app: text,
  club: text,
  member: nullable(text),
  ops: largeTexts,
  owners: largeTexts,
  collections: largeTexts,
  keys: largeTexts,
  values: largeTexts,
  ifMatch: largeTexts,
  ifNoneMatch: largeTexts,
  at: float,
  quotaBytes: int,
  maxBytes: int,
}
const columns = {
  outcome: oneOf('stored', 'deleted', 'absent', 'found', 'missing'),
  value: nullable(text),
  version: nullable(uuid),
  updatedAt: nullable(int),
  used: int,
}

const statements = {
  batch: statement(
    'sync_batch',
    `SELECT ${COLUMNS} FROM storage_batch(${OPERATIONS}, $ruled)`,
    { ...parameters, ruled: bool },
    columns,
  ),
  once: statement(
    'storage_once',
    `SELECT ${COLUMNS} FROM storage_once(${OPERATIONS}, $client, $idempotencyKey, $method)`,
    { ...parameters, client: text, idempotencyKey: text, method: text },
    columns,
  ),
  edit: statement(
    'storage_edit',
    `SELECT ${COLUMNS} FROM storage_edit(${OPERATIONS}, $ruled, $askedOps, $askedValues, $expected, $client, $idempotencyKey)`,
    {
      ...parameters,
      ruled: bool,
      askedOps: largeTexts,
      askedValues: largeTexts,
      expected: largeTexts,
      client: text,
      idempotencyKey: text,
    },
    columns,
  ),
}

const NOT_NULL_VIOLATION = '23502'

/** What an operation did: `absent` of a delete, `missing` of a get. */
export type Applied = Omit<ReturnType<typeof statements.batch.decode>, 'used'>

/**
 * Applies the operations in one transaction; `ruled`: rules of the app bind the member. Throws
 * - 403 where a rule refuses an operation and 412 where a precondition fails, with the index in a batch,
 * - 413 where the store would exceed its quota, or the values read together would,
 * - 400 and 413 for an edit that is not possible,
 * - with `once` also 404 for a DELETE without an entry, 409 for a key of another request, and 429 for too many keys.
 */
export async function apply(
  db: Database,
  { app, club, member, ruled }: { app: string; club: string; member: string | null; ruled: boolean },
  request: Request,
  reserve: Reserve,
): Promise<{ applied: Applied[]; used: number }> {
  const { operations, at, quotaBytes, once } = request
  const values = {
    app,
    club,
    member,
    ops: operations.map(({ op }) => op),
    owners: operations.map(({ owner }) => owner),
    collections: operations.map(({ collection }) => collection),
    keys: operations.map(({ key }) => key),
    values: operations.map(({ value }) => value),
    ifMatch: operations.map(({ ifMatch }) => ifMatch && toArrayLiteral(ifMatch)),
    ifNoneMatch: operations.map(({ ifNoneMatch }) => ifNoneMatch && toArrayLiteral(ifNoneMatch)),
    // Only a batch with a key needs the milliseconds, and entries have none.
    at: once ? at : Math.floor(at),
    quotaBytes,
    maxBytes: 0,
    ruled,
    // Only a request with a key has one.
    client: once?.client ?? '',
    idempotencyKey: once?.key ?? '',
    method: once?.method ?? '',
  }
  const single = once !== undefined && once.method !== 'POST'
  const execute = async () => {
    if (!operations.some(isEdit))
      return once ? db.execute(statements.once, values) : db.execute(statements.batch, values)
    const { operations: resolved, expected, refusal } = await resolveEdits(db, { app, club }, operations)
    const editing = db.execute(statements.edit, {
      ...values,
      ops: resolved.map(({ op }) => op),
      values: resolved.map(({ value }) => value),
      askedOps: values.ops,
      askedValues: operations.map(({ value, pointer }) =>
        pointer === undefined ? value : `${asPostgresText(pointer)} ${value}`,
      ),
      expected,
    })
    // Only the edit that is refused has no value.
    return editing.catch((error) => {
      throw refusal && sqlState(error) === NOT_NULL_VIOLATION ? refusal : error
    })
  }
  let reserved = 0
  for (;;) {
    values.maxBytes = Math.min(quotaBytes, Math.max(LARGE_BYTES, reserved))
    try {
      const applied = await withStoreLock({ app, club }, () => retryingDeadlocks(execute))
      return { applied, used: applied.at(-1)!.used }
    } catch (error) {
      // Nothing was stored: another node has changed an entry since this one read it.
      if (sqlState(error) === 'SB008') continue
      const bytes = bytesRead(error, single)
      if (bytes > quotaBytes) throw errors.readsTooLarge()
      // Nothing was stored. The values may have grown since: only the difference is missing.
      await reserve(bytes - reserved)
      reserved = bytes
    }
  }
}

/** Escaped, in quotation marks that no other pointer begins with, where PostgreSQL's text has not all of its characters. */
const asPostgresText = (pointer: string) => (/[\0\p{Cs}]/u.test(pointer) ? JSON.stringify(pointer) : pointer)

/** How much the operations would read, if that is why the database has refused them; throws any other refusal. */
function bytesRead(error: unknown, single: boolean): number {
  const detail = Number((error as { detail?: string }).detail)
  switch (sqlState(error)) {
    case 'SB001':
      throw single ? errors.entryChanged() : nameOperation(detail, errors.entryChanged())
    case 'SB002':
      throw errors.quotaExceeded()
    case 'SB003':
      return detail
    case 'SB004':
      throw single ? errors.entryNotOwn() : nameOperation(detail, errors.entryNotOwn())
    case 'SB005':
      throw errors.idempotencyMismatch()
    case 'SB006':
      throw errors.keysLimited(detail)
    case 'SB007':
      throw errors.keyUnknown()
    default:
      throw error
  }
}
