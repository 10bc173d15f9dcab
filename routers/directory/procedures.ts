import { z } from 'zod'
import type { Core } from '../kernel/context.ts'
import { sqlState } from '../kernel/database-errors.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { page } from '../kernel/page.ts'
import { directoryPlatform } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { personalData } from '../personal-data/procedures.ts'
import { endKeys } from './end.ts'
import { listRecords } from './list.ts'
import { isTransient, mergeRecords, repeated } from './merge.ts'
import type { RecordId, RecordIn, RecordOut } from './record-type.ts'
import type { RecordTypeName, RecordTypes } from './record-types.ts'
import { findRecordType, recordTypeNames } from './record-types.ts'
import type { Layout } from './sql.ts'
import { toLayout } from './sql.ts'

/** Records per call. */
const MAX_RECORDS = 1_000

type RecordFields<N extends RecordTypeName> = RecordTypes[N]['fields']
type RecordKey<N extends RecordTypeName> = RecordTypes[N]['key'][number] & keyof RecordFields<N>
export type Item<N extends RecordTypeName> = RecordIn<RecordFields<N>, RecordKey<N>>
export type Listed<N extends RecordTypeName> = RecordOut<RecordFields<N>>
export type Id<N extends RecordTypeName> = RecordId<RecordFields<N>, RecordKey<N>>

const merged = z.object({ added: z.int(), changed: z.int(), unchanged: z.int() })

function recordProcedures<N extends RecordTypeName>(name: N) {
  const layout = toLayout(findRecordType(name))
  const { id, output } = layout.recordType
  const ids = id as unknown as z.ZodType<unknown, Id<N>>

  const upsert = internal('directory:write', directoryPlatform, { summary: `Adds and changes ${name}` })
    // The merge checks each record, to report every refused one.
    .input(z.object({ items: z.array(z.custom<Item<N>>()).min(1).max(MAX_RECORDS) }))
    .output(merged)
    .mutation(({ ctx: { core }, input: { items } }) => merge(core, name, items))

  const end = internal('directory:write', directoryPlatform, { summary: `Ends ${name}` })
    .input(z.object({ ids: z.array(ids).min(1).max(MAX_RECORDS) }))
    .output(z.object({ ended: z.int() }))
    .mutation(async ({ ctx: { core }, input }) => {
      const keys = input.ids.map((id) => keyColumns(layout, id))
      const now = new Date(core.now())
      const ended = await core.db
        .inTransaction((client) => repeated(client, () => endKeys(client, layout, now, keys)))
        .catch((error) => {
          throw toFailure(error)
        })
      core.due.wake()
      return { ended }
    })

  const list = internal('directory:read', directoryPlatform, { summary: `The stored ${name}, ordered by key` })
    .input(z.object({ after: ids.nullish(), limit: page.limit }).default({ limit: 50 }))
    .output(z.object({ items: z.array(output as unknown as z.ZodType<Listed<N>>), next: z.custom<Id<N>>().nullable() }))
    .query(async ({ ctx: { core }, input: { after, limit } }) => {
      const behind = after === undefined || after === null ? null : keyColumns(layout, after)
      const rows = await core.db.inTransaction((client) =>
        listRecords(client, layout, { after: behind, limit: limit + 1 }),
      )
      const items = rows.slice(0, limit) as Listed<N>[]
      const next = rows.length > limit ? (readId(layout, items.at(-1)!) as Id<N>) : null
      return { items, next }
    })

  return { upsert, end, list }
}

/** Converts an id, or an object of the key's fields, to an object of the key's columns. */
function keyColumns({ recordType, keys }: Layout, id: unknown): object {
  const values = keys.length === 1 ? [id] : recordType.key.map((name) => (id as Record<string, unknown>)[name])
  return Object.fromEntries(keys.map((column, i) => [column, values[i]]))
}

const readId = ({ recordType: { key } }: Layout, record: Readonly<Record<string, unknown>>) =>
  key.length === 1 ? record[key[0]!] : Object.fromEntries(key.map((name) => [name, record[name]]))

/**
 * The error after the last attempt: 400 for a CHECK of the database that no rule covers, as the record is at fault; 503 when
 * other transactions keep changing the same records.
 */
function toFailure(error: unknown) {
  const code = sqlState(error) ?? ''
  if (/^23/.test(code)) {
    return errors.inputInvalid(400, `The database refuses a record: ${(error as { constraint?: string }).constraint}.`)
  }
  return isTransient(error) ? errors.unavailable(error) : error
}

async function merge({ db, now, due }: Core, name: RecordTypeName, items: readonly unknown[]) {
  const records = items.map((record, line) => ({ line, record }))
  const result = await db
    .inTransaction((client) => mergeRecords(client, name, records, { now: new Date(now()) }))
    .catch((error) => {
      throw toFailure(error)
    })
  const { count, first } = result.refused
  if (count > 0) {
    const refused = first.map(({ line, ...refusal }) => ({ index: line, ...refusal }))
    throw errors.recordsRefused(
      count,
      refused.sort((a, b) => a.index - b.index),
    )
  }
  due.wake()
  const { added, changed, unchanged } = result
  return { added, changed, unchanged }
}

const recordRouter = <N extends RecordTypeName>(name: N) => router(recordProcedures(name))

type Routers = { [N in RecordTypeName]: ReturnType<typeof recordRouter<N>> }

export const directory = router({
  ...(Object.fromEntries(recordTypeNames.map((name) => [name, recordRouter(name)])) as unknown as Routers),
  people: router({ ...recordProcedures('people'), ...personalData }),
})
