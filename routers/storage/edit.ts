import type { Database } from '../../prisma/client.ts'
import { bool, instant, int, largeTexts, nullable, statement, text, uuid } from '../../prisma/pg/statement.ts'
import { ApiError, errors, nameOperation } from '../kernel/errors.ts'
import { expiry } from '../kernel/page.ts'
import type { JsonText } from '../kernel/raw-json/text.ts'
import { add } from './add.ts'
import { merge } from './merge.ts'
import type { Operation, Request } from './operation.ts'
import { meets } from './rules.ts'

/** In bytes, of the values that a batch edits, before and after: the edits of one take some milliseconds. */
const MAX_EDITED_BYTES = 1024 * 1024

export const isEdit = ({ op }: Pick<Operation, 'op'>) => op === 'merge' || op === 'add'

/** Stands for a version of an entry that is absent, and for one that no entry has. */
const [ABSENT, NEVER] = ['', '-']

const selectEdited = statement(
  'storage_edited',
  `SELECT $key <> '' AND coalesce((SELECT "appId" = $app AND "createdAt" > $after FROM "StorageRequest"
        WHERE "clientId" = $client AND "clubId" = $club AND "memberId" = $sender AND key = $key), false) AS known,
      version, sum(octet_length(value)) OVER () AS bytes,
      CASE WHEN sum(octet_length(value)) OVER () <= ${MAX_EDITED_BYTES} THEN value END AS value
    FROM unnest($owners::text[], $collections::text[], $keys::text[]) WITH ORDINALITY given (owner, collection, key, place)
      LEFT JOIN "StorageEntry" entry ON "appId" = $app AND "clubId" = $club AND entry.owner = given.owner
        AND entry.collection = given.collection AND entry.key = given.key
    ORDER BY place`,
  {
    app: text,
    club: text,
    client: text,
    sender: text,
    key: text,
    after: instant,
    owners: largeTexts,
    collections: largeTexts,
    keys: largeTexts,
  },
  { known: bool, version: nullable(uuid), bytes: nullable(int), value: nullable(text) },
)

interface Edited {
  /** With puts in place of edits. */
  operations: readonly Operation[]
  /** For each operation that edits a stored value, the version of its entry, which it must still have; otherwise null. */
  expected: readonly (string | null)[]
}

/** Replaces edits by puts of what they make of the stored values, or of those of the operations before. Throws 400, 412 and 413. */
export async function resolveEdits(
  db: Database,
  { app, club, member }: { app: string; club: string; member: string | null },
  { operations, at, once }: Request,
): Promise<Edited> {
  const edits = operations.filter(isEdit)
  const rows = await db.execute(selectEdited, {
    app,
    club,
    client: once?.client ?? '',
    sender: member ?? '',
    key: once?.key ?? '',
    after: expiry(at * 1000),
    owners: edits.map(({ owner }) => owner),
    collections: edits.map(({ collection }) => collection),
    keys: edits.map(({ key }) => key),
  })
  // It gets the first answer.
  if (rows[0]!.known) {
    return {
      operations: operations.map((one) => (isEdit(one) ? { ...one, op: 'put', value: null } : one)),
      expected: operations.map((one) => (isEdit(one) ? NEVER : null)),
    }
  }
  let bytes = rows[0]!.bytes ?? 0
  const count = (value: JsonText) => {
    bytes += Buffer.byteLength(value)
    if (bytes > MAX_EDITED_BYTES) throw errors.editsTooLarge()
  }
  count('')
  const stored = new Map(edits.map((edit, i) => [toPlace(edit), rows[i]!]))
  /** What the operations so far have made of each entry; undefined: removed. */
  const values = new Map<string, JsonText | undefined>()
  const expected: (string | null)[] = []
  const resolved = operations.map((one, index) => {
    const place = toPlace(one)
    const isFirst = !values.has(place)
    const edit = isEdit(one)
    expected.push(edit && isFirst ? (stored.get(place)!.version ?? ABSENT) : null)
    if (one.op === 'put') values.set(place, one.value!)
    if (one.op === 'delete') values.set(place, undefined)
    if (!edit) return one
    if (isFirst && !meets(stored.get(place)!.version, one)) throw nameOperation(index, errors.entryChanged())
    count(one.value!)
    const before = isFirst ? stored.get(place)!.value : values.get(place)
    if (!isFirst && before) count(before)
    const value = applyEdit(one, before?.toString() ?? '{}', index)
    count(value)
    values.set(place, value)
    return { ...one, op: 'put' as const, value }
  })
  return { operations: resolved, expected }
}

const toPlace = ({ owner, collection, key }: Operation) => `${owner}\0${collection}\0${key}`

function applyEdit({ op, value, pointer }: Operation, before: string, index: number): string {
  try {
    return op === 'merge' ? merge(before, value!.toString()) : add(before, pointer!, value!.toString())
  } catch (error) {
    throw error instanceof ApiError ? nameOperation(index, error) : error
  }
}
