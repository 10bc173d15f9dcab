import { z } from 'zod'
import { endpoint } from '../kernel/endpoint.ts'
import { withError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import { page } from '../kernel/page.ts'
import { clubStore } from '../kernel/policies.ts'
import { entry, storedValue } from '../storage/entry.ts'
import { collection, entryName, scope, toCollection } from '../storage/procedures.ts'
import { entriesAfter } from './statements.ts'

const input = z.object({
  collection,
  scope,
  prefix: z
    .string(withError('prefixInvalid'))
    .regex(/^[A-Za-z0-9_-]{1,64}$/, withError('prefixInvalid'))
    .meta({ description: 'Only entries whose keys begin with it.', examples: ['al'] })
    .optional(),
  after: entryName
    .meta({ description: 'The last key of the page before; omitted, the first page.', examples: ['adam'] })
    .optional(),
  limit: page.limit,
  values: z
    .boolean(withError('valuesInvalid'))
    .default(true)
    .meta({ description: '`false`: the entries without their values.', examples: [true] }),
})

/** Exported, as declarations of `callAs` name it. */
export interface Item {
  key: string
  value?: Json
  updatedAt: number
  etag: string
}

/** As in `storage.list`, the JSON is text (`pageText`): so the schema is documented and typed, and does not look into it. */
const output = (() => {
  const item = entry
    .extend({
      value: storedValue.optional(),
      etag: z.string().meta({
        description: 'Identifies this version of the entry, for `If-Match` in the storage.',
        examples: ['"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"'],
      }),
    })
    .meta({ title: 'StorageEntry', description: 'An entry of the storage; without its value when `values` is false.' })
  const { $schema, ...schema } = z.toJSONSchema(
    z.object({
      items: z.array(item).meta({ description: 'The entries on the page, ordered by key in byte order.' }),
      more: z.boolean().meta({ description: 'Whether there are entries after the page.', examples: [false] }),
    }),
  )
  return z
    .custom<{ items: Item[]; more: boolean }>()
    .meta({ override: ({ jsonSchema }: { jsonSchema: object }) => Object.assign(jsonSchema, schema) })
})()

/** Never repeats or leaves out an entry that is not written meanwhile. */
export const entries = endpoint('GET /collections/{collection}/entries', 'svc.apps.storage:read', clubStore, {
  section: 'sync',
  summary: 'The entries of a collection, by key',
  description:
    'A page of a collection, ordered by key in byte order. A page begins after the key in `after`, so that consecutive pages neither miss nor repeat an entry while others are written. A collection that nobody has written to is empty, not unknown.',
  returns: 'The entries on the page.',
  fails: ['scopeOrgOnly'],
})
  .input(input)
  .output(output)
  .query(async ({ ctx, input: { prefix = '', after = '', ...wanted } }) => {
    const { core, call } = ctx
    const rows = await entriesAfter(core.db, toCollection(ctx, wanted), { ...wanted, prefix, after }, call.reserve)
    return call.json(pageText(rows))
  })

type Row = Awaited<ReturnType<typeof entriesAfter>>[number]

/** In pieces, as values are neither parsed nor copied; keys and versions need no escapes. */
function pageText(rows: readonly Row[]): string[] {
  const pieces = ['{"items":[']
  let end = ''
  for (const { key, value, updatedAt, version } of rows) {
    pieces.push(`${end}{"key":"${key}"`)
    if (value !== null) pieces.push(',"value":', value)
    end = `,"updatedAt":${updatedAt},"etag":"\\"${version}\\""},`
  }
  pieces.push(`${end.slice(0, -1)}],"more":${rows.at(-1)?.more ?? false}}`)
  return pieces
}
