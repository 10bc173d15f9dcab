import { z } from 'zod'
import type { Json } from '../kernel/json.ts'
import { json } from '../kernel/json.ts'

/** A stored entry: `value` is the JSON text that came in, `updatedAt` is in Unix seconds. */
export interface StoredEntry {
  key: string
  value: string
  updatedAt: number
  version: string
}

/** What an entry holds, in requests and responses. */
export const storedValue = json.meta({
  description: 'Any JSON. It is returned as it was stored, byte for byte; only surrounding white space is trimmed.',
  examples: [{ points: 3 }],
})

const documented = z.object({
  key: z.string().meta({ description: 'Key of the entry.', examples: ['alice'] }),
  value: storedValue,
  updatedAt: z.int().meta({ description: 'When the entry was last written, in Unix seconds.', examples: [1777802400] }),
})

const named = { title: 'StorageEntry', description: 'An entry of the storage.' }
export const entry = documented.extend({ etag: z.string() }).meta(named)

/** A strong ETag: new with every write and never used again, as versions are random. */
export const etag = (version: string) => `"${version}"`

/**
 * The output of a list. Its JSON is put together as text by `pageText`: `z.object` and JSON.stringify over 50 entries took
 * a sixth of a request. So the schema is documented and typed, and does not look into it.
 */
export const entryPage = (() => {
  const { $schema, ...schema } = z.toJSONSchema(
    z.object({
      items: z
        .array(documented.meta(named))
        .meta({ description: 'The entries on the page, ordered by key in byte order.' }),
      total: z.int().meta({
        description: 'Number of entries in the collection, regardless of `limit` and `offset`.',
        examples: [1],
      }),
    }),
  )
  return z
    .custom<{ items: { key: string; value: Json; updatedAt: number; etag: string }[]; total: number }>()
    .meta({ override: ({ jsonSchema }: { jsonSchema: object }) => Object.assign(jsonSchema, schema) })
})()

/** The JSON of a page, in pieces: values are neither parsed nor copied, and keys (storage_address_fits) need no escapes. */
export function pageText({ entries, total }: { entries: StoredEntry[]; total: number }, withETags: boolean): string[] {
  const pieces = ['{"items":[']
  let end = ''
  for (const { key, value, updatedAt, version } of entries) {
    pieces.push(`${end}{"key":"${key}","value":`, value)
    end = `,"updatedAt":${updatedAt}${withETags ? `,"etag":"\\"${version}\\""` : ''}},`
  }
  pieces.push(`${end.slice(0, -1)}],"total":${total}}`)
  return pieces
}
