import { z } from 'zod'
import { EXAMPLE } from '../kernel/cursor.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { page } from '../kernel/page.ts'
import { clubStore } from '../kernel/policies.ts'
import { readOrWait, reauthorize, waitFor } from '../kernel/wait.ts'
import type { ChangePage } from '../storage/changes.ts'
import { changeCursors, readChanges } from '../storage/changes.ts'
import { entry, storedValue } from '../storage/entry.ts'
import { toCollection } from '../storage/procedures.ts'
import { changeText } from './change-text.ts'
import { sharedSmallChanges } from './shared-changes.ts'
import type { Item } from './watch.ts'
import { followed } from './watch.ts'

const SCOPE = 'svc.apps.storage:read'
const { allows, checkAgain } = reauthorize({ scope: SCOPE, policy: clubStore })

const input = followed.extend({
  limit: page.limit.meta({ description: 'Maximum number of changes to return.', examples: [50] }),
  wait: waitFor('a change'),
})

/** Properties' own examples would be an entry that is there and removed. */
const CHANGE = {
  key: 'alice',
  value: { points: 3 },
  updatedAt: 1777802400,
  etag: '"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"',
}

/** As in `storage.list`, the JSON is text: so the schema is documented and typed, and does not look into it. */
const output = (() => {
  const item = entry
    .extend({
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
    .meta({
      title: 'Change',
      description: 'The last state of an entry that was written or removed.',
      examples: [CHANGE],
    })
  const { $schema, ...schema } = z.toJSONSchema(
    z.object({
      items: z
        .array(item)
        .meta({ description: 'The last state of each key that changed, in the order of these changes.' }),
      cursor: z.string().meta({
        description: 'Where the next page begins. It belongs to this collection, scope, member and app.',
        examples: [EXAMPLE],
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
  fails: ['scopeOrgOnly', 'cursorInvalid', 'cursorExpired', 'waitsLimited', 'tokenExpired'],
  headers: { lastEventId: 'Last-Event-ID' },
  stream: 'storage.watch',
})
  .input(input)
  .output(output)
  .query(async ({ ctx, input: { since, limit, wait, lastEventId: _ofStreams, ...of } }) => {
    const { core, call } = ctx
    const at = toCollection(ctx, of)
    const cursors = changeCursors(core.cipher, at, ctx)
    let from = since === undefined ? undefined : cursors.readPosition(since)
    const found = await readOrWait(ctx, {
      seconds: wait,
      listen: () => core.watch.listen(at),
      async read(round) {
        const wanted = { since: from, limit }
        // A write makes one query for 1,000 calls that wait for it.
        const shared = round === undefined ? null : await sharedSmallChanges(core, at, { ...wanted, round })
        const page = shared ?? (await readChanges(core.db, at, wanted, call.reserve))
        from = page.next
        return { page, isEmpty: page.changes.length === 0 && !page.more, seen: from.number }
      },
      allows,
      checkAgain: () => checkAgain(ctx),
    })
    return call.json(pageText(found, cursors.of(found.next)))
  })

function pageText({ changes, more }: ChangePage, cursor: string): string[] {
  const pieces = changes.flatMap((change, i) => (i === 0 ? changeText(change) : [',', ...changeText(change)]))
  return ['{"items":[', ...pieces, `],"cursor":"${cursor}","more":${more}}`]
}
