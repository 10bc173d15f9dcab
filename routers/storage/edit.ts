import type { Database } from '../../prisma/client.ts'
import { int, largeTexts, nullable, statement, text, uuid } from '../../prisma/pg/statement.ts'
import { ApiError, errors, nameOperation } from '../kernel/errors.ts'
import type { JsonText } from '../kernel/raw-json/text.ts'
import { add } from './add.ts'
import { merge } from './merge.ts'
import type { Operation } from './operation.ts'

/** In bytes, of what the edits of a batch are given, find and make: they take some milliseconds. */
const MAX_EDITED_BYTES = 1024 * 1024

export const isEdit = ({ op }: Pick<Operation, 'op'>) => op === 'merge' || op === 'add'

/** Stands for the version of an entry that is absent. */
const ABSENT = ''

/** Values are null from the first with which they exceed the most. */
const selectEdited = statement(
  'storage_edited',
  `SELECT version, octet_length(value) AS bytes,
      CASE WHEN sum(octet_length(value)) OVER (ORDER BY place) <= ${MAX_EDITED_BYTES} THEN value END AS value
    FROM unnest($owners::text[], $collections::text[], $keys::text[]) WITH ORDINALITY given (owner, collection, key, place)
      LEFT JOIN "StorageEntry" entry ON "appId" = $app AND "clubId" = $club AND entry.owner = given.owner
        AND entry.collection = given.collection AND entry.key = given.key
    ORDER BY place`,
  { app: text, club: text, owners: largeTexts, collections: largeTexts, keys: largeTexts },
  { version: nullable(uuid), bytes: nullable(int), value: nullable(text) },
)

interface Edited {
  /** With puts in place of edits; from the first edit that is refused on, they have no value. */
  operations: readonly Operation[]
  /** For each operation that edits a stored value, the version of its entry, which it must still have; otherwise null. */
  expected: readonly (string | null)[]
  /** Why this edit is refused, 400 or 413: unless a rule, the Idempotency-Key or an operation up to it refuses the request. */
  refusal: ApiError | undefined
}

/** Replaces edits by puts of what they make of the stored values, or of those of the operations before. */
export async function resolveEdits(
  db: Database,
  { app, club }: { app: string; club: string },
  operations: readonly Operation[],
): Promise<Edited> {
  const isFirstWrite = (one: Operation) =>
    operations.find((other) => other.op !== 'get' && toPlace(other) === toPlace(one)) === one
  const edits = operations.filter((one) => isEdit(one) && isFirstWrite(one))
  const rows = await db.execute(selectEdited, {
    app,
    club,
    owners: edits.map(({ owner }) => owner),
    collections: edits.map(({ collection }) => collection),
    keys: edits.map(({ key }) => key),
  })
  const stored = new Map(edits.map((edit, i) => [edit, rows[i]!]))
  let bytes = 0
  const count = (more: number) => {
    bytes += more
    if (bytes > MAX_EDITED_BYTES) throw errors.editsTooLarge()
  }
  /** What the operations so far have made of each entry; null: removed. */
  const values = new Map<string, JsonText | null>()
  const resolve = (one: Operation, index: number) => {
    const found = stored.get(one)
    const before = found ? found.value : (values.get(toPlace(one)) ?? null)
    count(Buffer.byteLength(one.value!))
    count(found ? (found.bytes ?? 0) : Buffer.byteLength(before ?? ''))
    const value = applyEdit(one, before?.toString(), index)
    count(Buffer.byteLength(value))
    return value
  }
  let refusal: ApiError | undefined
  const resolved = operations.map((one, index) => {
    let { value } = one
    if (isEdit(one)) {
      try {
        value = refusal ? null : resolve(one, index)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        refusal = error
        value = null
      }
    }
    if (one.op !== 'get') values.set(toPlace(one), value)
    return isEdit(one) ? { ...one, op: 'put' as const, value } : one
  })
  const expected = operations.map((one) => {
    const found = stored.get(one)
    return found ? (found.version ?? ABSENT) : null
  })
  return { operations: resolved, expected, refusal }
}

const toPlace = ({ owner, collection, key }: Operation) => `${owner}\0${collection}\0${key}`

function applyEdit({ op, value, pointer }: Operation, before: string | undefined, index: number): string {
  try {
    return op === 'merge' ? merge(before, value!.toString()) : add(before ?? '{}', pointer!, value!.toString())
  } catch (error) {
    throw error instanceof ApiError ? nameOperation(index, error) : error
  }
}
