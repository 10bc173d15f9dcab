import { z } from 'zod'
import type { Call } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { errors, withError } from '../errors.ts'
import { json } from '../json.ts'
import { page } from '../page.ts'
import { clubApp } from '../policies.ts'
import { RawJson } from '../raw-json/text.ts'
import { router } from '../trpc.ts'
import { conditions } from './conditions.ts'
import { entry, entryPage, etag, pageText } from './entry.ts'
import type { Collection } from './statements.ts'
import { deleteEntry, getEntry, listEntries, putEntry } from './statements.ts'
import { isBeyondQuota, usedBytes } from './usage.ts'

const name = z.string(withError('nameInvalid')).regex(/^[A-Za-z0-9_-]{1,64}$/, withError('nameInvalid'))
const scope = z.enum(['org', 'user'], withError('scopeInvalid')).default('org')
const address = z.object({ collection: name, key: name, scope })
const conditional = address.extend({ ifMatch: z.string().optional(), ifNoneMatch: z.string().optional() })

interface Caller {
  app: string
  club: string
  member: string
}

/** Rule 11: the storage of the token's app and club; with `user` only the member's own entries. */
const collectionOf = (
  { app, club, member }: Caller,
  { collection, scope }: { collection: string; scope: 'org' | 'user' },
): Collection => ({ app, club, owner: scope === 'user' ? member : '', collection })

function setUsage({ setHeader }: Call, used: number, quotaBytes: number) {
  setHeader('X-Storage-Used', String(used))
  setHeader('X-Storage-Limit', String(quotaBytes))
}

const headers = { ifMatch: 'If-Match', ifNoneMatch: 'If-None-Match' }
const responseHeaders = { etag: 'ETag' }

/** Rule 7: a page of a collection, by key in byte order; an unknown collection is empty. */
const list = endpoint('GET /storage/{collection}', 'svc.apps.storage:read', clubApp, {
  summary: 'The entries of a collection',
})
  .input(z.object({ collection: name, scope, ...page }))
  .output(entryPage)
  .query(async ({ ctx, input }) => {
    const { core, call } = ctx
    const found = await listEntries(core.db, collectionOf(ctx, input), input.limit, input.offset, call.reserve)
    return call.json(pageText(found, call.typed))
  })

/** Rule 8. */
const get = endpoint('GET /storage/{collection}/{key}', 'svc.apps.storage:read', clubApp, {
  summary: 'One entry',
  responseHeaders,
  fails: ['keyUnknown'],
})
  .input(address)
  .output(entry)
  .query(async ({ ctx, input }) => {
    const { core, call } = ctx
    const found = await getEntry(core.db, collectionOf(ctx, input), input.key, call.reserve)
    if (!found) throw errors.keyUnknown()
    const { key, value, updatedAt, version } = found
    return { key, value: call.json([value]), updatedAt, etag: etag(version) }
  })

/** Rule 9: creates or replaces an entry. Over the quota nothing is stored, but a write that does not grow always is. */
const put = endpoint('PUT /storage/{collection}/{key}', 'svc.apps.storage:write', clubApp, {
  summary: 'Creates or replaces an entry',
  query: ['scope'],
  headers,
  responseHeaders,
  raw: 'value',
  fails: ['valueMissing', 'valueNotAlone', 'valueTooDeep', 'entryChanged', 'quotaExceeded'],
})
  // Before the input, whose body is refused for its size as well.
  .use(async ({ ctx: { core, call, app, club }, next }) => {
    const result = await next()
    if (!result.ok && result.error.code === 'PAYLOAD_TOO_LARGE') {
      setUsage(call, await usedBytes(core.db, { app, club }), core.storageQuotaBytes)
    }
    return result
  })
  .input(conditional.extend({ value: json.refine((value) => value !== undefined, withError('valueMissing')) }))
  .output(entry)
  .mutation(async ({ ctx, input }) => {
    const { core, call } = ctx
    const { key } = input
    const given: unknown = input.value
    const { db, storageQuotaBytes: quotaBytes } = core
    const [collection, preconditions] = [collectionOf(ctx, input), conditions(input)]
    if (given instanceof RawJson && given.minBytes > 0) {
      const what = { key, bytes: given.minBytes, quotaBytes }
      if (await isBeyondQuota(db, collection, what, preconditions)) throw errors.quotaExceeded()
    }
    const value = await call.text(given)
    const updatedAt = Math.floor(core.now() / 1000)
    const what = { key, value, updatedAt, quotaBytes }
    const { outcome, used, version } = await putEntry(db, collection, what, preconditions)
    if (outcome === 'changed') throw errors.entryChanged()
    if (outcome === 'full') throw errors.quotaExceeded()
    setUsage(call, used, quotaBytes)
    return { key, value: call.json([value]), updatedAt, etag: etag(version) }
  })

/** Rule 10. */
const remove = endpoint('DELETE /storage/{collection}/{key}', 'svc.apps.storage:write', clubApp, {
  summary: 'Removes an entry',
  status: 204,
  headers,
  fails: ['keyUnknown', 'entryChanged'],
})
  .input(conditional)
  .output(z.void())
  .mutation(async ({ ctx, input }) => {
    const { core, call } = ctx
    const { outcome, used } = await deleteEntry(core.db, collectionOf(ctx, input), input.key, conditions(input))
    if (outcome === 'changed') throw errors.entryChanged()
    if (outcome === 'absent') throw errors.keyUnknown()
    setUsage(call, used, core.storageQuotaBytes)
  })

export const storage = router({ list, get, put, delete: remove })
