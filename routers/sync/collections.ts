import { z } from 'zod'
import { endpoint } from '../kernel/endpoint.ts'
import { page } from '../kernel/page.ts'
import { clubStore } from '../kernel/policies.ts'
import { entryName, scope, toCollection } from '../storage/procedures.ts'
import { collectionsAfter } from './statements.ts'

const found = z
  .object({
    collection: z.string().meta({ description: 'Name of the collection.', examples: ['scores'] }),
    entries: z.int().meta({ description: 'Number of its entries.', examples: [1] }),
    bytes: z.int().meta({ description: 'Bytes of its values, as they count for the quota.', examples: [12] }),
    updatedAt: z
      .int()
      .meta({ description: 'When one of its entries was last written, in Unix seconds.', examples: [1777802400] }),
  })
  .meta({ title: 'Collection', description: 'A collection that has entries.' })

export const collections = endpoint('GET /collections', 'svc.apps.storage:read', clubStore, {
  section: 'sync',
  summary: 'The collections of the storage',
  description:
    'A page of the collections that have entries, in byte order of their names. A page begins after the name in `after`.',
  returns: 'The collections on the page.',
  fails: ['scopeOrgOnly'],
})
  .input(
    z
      .object({
        scope,
        limit: page.limit.meta({ description: 'Maximum number of collections to return.', examples: [50] }),
        after: entryName
          .meta({ description: 'The last collection of the page before; omitted, the first page.', examples: ['chat'] })
          .optional(),
      })
      .prefault({}),
  )
  .output(
    z.object({
      items: z.array(found).meta({ description: 'The collections on the page.' }),
      more: z.boolean().meta({ description: 'Whether there are collections after the page.', examples: [false] }),
    }),
  )
  .query(async ({ ctx, input: { scope, limit, after = '' } }) => {
    const rows = await collectionsAfter(ctx.core.db, toCollection(ctx, { scope, collection: after }), limit)
    return { items: rows.map(({ more, ...item }) => item), more: rows.at(-1)?.more ?? false }
  })
