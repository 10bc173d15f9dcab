import { z } from 'zod'
import { endpoint } from '../kernel/endpoint.ts'
import { page } from '../kernel/page.ts'
import { clubStore } from '../kernel/policies.ts'
import { authorizerAgain, readOrWait, waitFor } from '../kernel/wait.ts'
import type { Change, ChangePage } from '../storage/changes.ts'
import { readChanges } from '../storage/changes.ts'
import { cursorOf, positionOf } from '../storage/cursor.ts'
import { entry, storedValue } from '../storage/entry.ts'
import { collectionOf } from '../storage/procedures.ts'
import type { Item } from './watch.ts'
import { followed } from './watch.ts'

const SCOPE = 'svc.apps.storage:read'
const checkAgain = authorizerAgain({ scope: SCOPE, policy: clubStore })

const input = followed.extend({
  limit: page.limit.meta({ description: 'Maximum number of changes to return.', examples: [50] }),
  wait: waitFor('a change'),
})

/** As in `storage.list`, the JSON is text: so the schema is documented and typed, and does not look into it. */
const output = (() => {
  const item = entry.extend({
    value: storedValue.optional(),
    etag: z
      .string()
      .optional()
      .meta({
        description: 'Identifies this version of the entry, for `If-Match` in the storage.',
        examples: ['"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"'],
      }),
    deleted: z
      .literal(true)
      .optional()
      .meta({ description: 'The entry was removed: the item has neither `value` nor `etag`.', examples: [true] }),
  })
  const { $schema, ...schema } = z.toJSONSchema(
    z.object({
      items: z
        .array(item)
        .meta({ description: 'The last state of each key that changed, in the order of these changes.' }),
      cursor: z.string().meta({
        description: 'Where the next page begins. It belongs to this collection, scope, member and app.',
        examples: ['MjBhYzg2ZTk4ZDQ1OGJlYjM5ZGFlYzg0ZDhhM2IxNWYuMTc5NTYwODAwMDAwMA'],
      }),
      more: z.boolean().meta({ description: 'Whether more can be read at once.', examples: [false] }),
    }),
  )
  return z
    .custom<{ items: Item[]; cursor: string; more: boolean }>()
    .meta({ override: ({ jsonSchema }: { jsonSchema: object }) => Object.assign(jsonSchema, schema) })
})()

export const changes = endpoint('GET /collections/{collection}/changes', SCOPE, clubStore, {
  section: 'sync',
  summary: 'What has changed in a collection',
  description:
    'Without `since`, all entries, page by page, and then what has changed since they were read. With it, the last state of each key that changed after that page, removed ones as `deleted`. A copy that applies the items in their order equals the collection once `more` is false. After 30 days without reading, or more than 100,000 changes, a cursor has expired (410): begin again without it.\n\nWith `Accept: text/event-stream`, the entries and then each change as it happens: `data` is one item, `id` its cursor; `limit` and `wait` do not apply. In `data`, line breaks between the parts of a value are spaces. The stream ends with its token.',
  returns: 'The changes on the page.',
  fails: ['scopeOrgOnly', 'cursorInvalid', 'cursorExpired', 'waitsLimited'],
  headers: { lastEventId: 'Last-Event-ID' },
  stream: 'storage.watch',
})
  .input(input)
  .output(output)
  .query(async ({ ctx, input: { since, limit, wait, lastEventId: _ofStreams, ...of } }) => {
    const { core, call } = ctx
    const at = collectionOf(ctx, of)
    let from = since === '' ? undefined : positionOf(core.cipher, at, since)
    const found = await readOrWait(ctx, {
      seconds: wait,
      listen: () => core.watch.listen(at),
      async read() {
        const page = await readChanges(core.db, at, { since: from, limit }, call.reserve)
        from = page.next
        return { page, isEmpty: page.changes.length === 0 && !page.more, seen: from.number }
      },
      checkAgain: () => checkAgain(ctx),
    })
    return call.json(pageText(found, cursorOf(core.cipher, at, found.next)))
  })

/** In pieces, as values are neither parsed nor copied; keys, versions and cursors need no escapes. */
function pageText({ changes, more }: ChangePage, cursor: string): string[] {
  const pieces = ['{"items":[']
  let end = ''
  for (const change of changes) {
    pieces.push(`${end}{"key":"${change.key}"`)
    end = `,"updatedAt":${change.updatedAt}${stateOf(change, pieces)}},`
  }
  pieces.push(`${end.slice(0, -1)}],"cursor":"${cursor}","more":${more}}`)
  return pieces
}

function stateOf({ value, version }: Change, pieces: string[]): string {
  if (value === null) return ',"deleted":true'
  pieces.push(',"value":', value)
  return `,"etag":"\\"${version}\\""`
}
