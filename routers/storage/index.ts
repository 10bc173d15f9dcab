import { z } from 'zod'
import type { Admitted, Context } from '../context.ts'
import { errors, withError } from '../errors.ts'
import { page } from '../page.ts'
import { rawJsonOf } from '../raw-json/text.ts'
import { clubApps, endpoint, router } from '../trpc.ts'
import { conditions, etag } from './conditions.ts'
import { entryText, pageText, rawJsonOutput } from './entry.ts'
import type { Collection } from './statements.ts'
import { deleteEntry, getEntry, listEntries, putEntry } from './statements.ts'

const name = z.string(withError('nameInvalid')).regex(/^[A-Za-z0-9_-]{1,64}$/, withError('nameInvalid'))
const scope = z.enum(['org', 'user'], withError('scopeInvalid')).default('org')
const address = z.object({ collection: name, key: name, scope })
const conditional = address.extend({ ifMatch: z.string().optional(), ifNoneMatch: z.string().optional() })

const entry = z.object({ key: z.string(), value: z.unknown(), updatedAt: z.int() })

type Scoped = { collection: string; scope: 'org' | 'user' }

/** Rule 11: the storage of the app and the club of the token; with `user` only the member's own entries. */
const within = (ctx: Admitted, { collection, scope }: Scoped): Collection => ({
  app: ctx.app,
  club: ctx.principal.organisation,
  owner: scope === 'user' ? ctx.member : '',
  collection,
})

function setUsage(ctx: Context, used: string) {
  ctx.setHeader('X-Storage-Used', used)
  ctx.setHeader('X-Storage-Limit', String(ctx.storageQuotaBytes))
}

const headers = { ifMatch: 'If-Match', ifNoneMatch: 'If-None-Match' }

/** Rule 7: a page of a collection, by key in byte order; an unknown collection is an empty one. */
const list = endpoint('GET /storage/{collection}', 'svc.apps.storage:read', clubApps, {
  summary: 'The entries of a collection',
})
  .input(z.object({ collection: name, scope, ...page }))
  .output(rawJsonOutput(z.object({ items: z.array(entry), total: z.int() })))
  .query(async ({ ctx, input }) => {
    const page = await listEntries(ctx.db, within(ctx, input), input.limit, input.offset, ctx.reserve)
    return ctx.json(pageText(page))
  })

/** Rule 8: the entry, or 404. */
const get = endpoint('GET /storage/{collection}/{key}', 'svc.apps.storage:read', clubApps, {
  summary: 'One entry',
  fails: ['keyUnknown'],
})
  .input(address)
  .output(rawJsonOutput(entry))
  .query(async ({ ctx, input }) => {
    const found = await getEntry(ctx.db, within(ctx, input), input.key, ctx.reserve)
    if (!found) throw errors.keyUnknown()
    ctx.setHeader('ETag', etag(found.version))
    return ctx.json(entryText(found))
  })

/** Rule 9: creates or replaces an entry. Past the quota nothing is stored; a write that does not grow always is. */
const put = endpoint('PUT /storage/{collection}/{key}', 'svc.apps.storage:write', clubApps, {
  summary: 'Creates or replaces an entry',
  query: ['scope'],
  headers,
  raw: 'value',
  fails: ['valueMissing', 'valueNotAlone', 'valueTooDeep', 'entryChanged', 'quotaExceeded'],
})
  .input(conditional.extend({ value: z.unknown().refine((value) => value !== undefined, withError('valueMissing')) }))
  .output(rawJsonOutput(entry))
  .mutation(async ({ ctx, input }) => {
    const updatedAt = Math.floor(ctx.now() / 1000)
    const value = await rawJsonOf(input.value)
    const { outcome, used, version } = await putEntry(
      ctx.db,
      within(ctx, input),
      { key: input.key, value, updatedAt, quotaBytes: ctx.storageQuotaBytes },
      conditions(input),
    )
    if (outcome === 'changed') throw errors.entryChanged()
    if (outcome === 'full') throw errors.quotaExceeded()
    setUsage(ctx, used)
    ctx.setHeader('ETag', etag(version))
    return ctx.json(entryText({ key: input.key, value, updatedAt: String(updatedAt) }))
  })

/** Rule 10: removes an entry, or 404. */
const remove = endpoint('DELETE /storage/{collection}/{key}', 'svc.apps.storage:write', clubApps, {
  summary: 'Removes an entry',
  status: 204,
  headers,
  fails: ['keyUnknown', 'entryChanged'],
})
  .input(conditional)
  .output(z.void())
  .mutation(async ({ ctx, input }) => {
    const { outcome, used } = await deleteEntry(ctx.db, within(ctx, input), input.key, conditions(input))
    if (outcome === 'changed') throw errors.entryChanged()
    if (outcome === 'absent') throw errors.keyUnknown()
    setUsage(ctx, used)
  })

export const storage = router({ list, get, put, delete: remove })
