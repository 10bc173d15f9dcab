import { z } from 'zod'
import { endpoint } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { page } from '../kernel/page.ts'
import { clubApp } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { entry, entryPage, etag, pageText, storedValue } from './entry.ts'
import { isKnown, keyHeader, storeKey, writeOnce } from './once.ts'
import { conditions, meetsIfMatch } from './rules.ts'
import type { Collection } from './statements.ts'
import { deleteEntry, getEntry, listEntries, putEntry } from './statements.ts'
import { isBeyondQuota, setUsage, usedBytes } from './usage.ts'

/** The name of a collection or a key. */
export const entryName = z.string(withError('nameInvalid')).regex(/^[A-Za-z0-9_-]{1,64}$/, withError('nameInvalid'))
export const collection = entryName.meta({ description: "1 to 64 letters, digits, '_' or '-'.", examples: ['scores'] })
const key = entryName.meta({ description: "1 to 64 letters, digits, '_' or '-'.", examples: ['alice'] })
export const scope = z
  .enum(['org', 'user'], withError('scopeInvalid'))
  .default('org')
  .meta({
    description: '`org`: entries that the members of the club share. `user`: entries of this member only.',
    examples: ['org'],
  })
const address = z.object({ collection, key, scope })
const ifMatch = z
  .string()
  .meta({
    description: 'ETags, one of which the entry must have, or `*` for any entry; else 412, and nothing changes.',
    examples: ['"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"'],
  })
  .optional()
export const conditional = address.extend({
  ifMatch,
  ifNoneMatch: z
    .string()
    .meta({
      description:
        'ETags, none of which the entry may have; `*`: there must be no entry. Else 412, and nothing changes.',
      examples: ['*'],
    })
    .optional(),
})

interface Caller {
  app: string
  club: string
  /** Null for the app itself. */
  member: string | null
}

/** Rule 11: the storage of the token's app and club; with `user` only the member's own entries. Throws 422 without a member. */
export function toCollection(
  { app, club, member }: Caller,
  { collection, scope }: { collection: string; scope: 'org' | 'user' },
): Collection {
  if (scope === 'org') return { app, club, owner: '', collection }
  if (member === null) throw errors.scopeOrgOnly()
  return { app, club, owner: member, collection }
}

const written = conditional.extend({ idempotencyKey: storeKey })
const headers = { ifMatch: 'If-Match', ifNoneMatch: 'If-None-Match', ...keyHeader }
const responseHeaders = { etag: 'ETag' }

/** Rule 7: a page of a collection, by key in byte order; an unknown collection is empty. */
const list = endpoint('GET /storage/{collection}', 'svc.apps.storage:read', clubApp, {
  summary: 'The entries of a collection',
  description:
    'A page of a collection, ordered by key in byte order. A collection that nobody has written to is empty, not unknown. Consecutive pages may miss or repeat entries that are written in the meantime.',
  returns: 'The entries on the page.',
})
  .input(z.object({ collection, scope, ...page }))
  .output(entryPage)
  .query(async ({ ctx, input }) => {
    const { core, call } = ctx
    const found = await listEntries(core.db, toCollection(ctx, input), input.limit, input.offset, call.reserve)
    return call.json(pageText(found, call.typed))
  })

/** Rule 8. */
const get = endpoint('GET /storage/{collection}/{key}', 'svc.apps.storage:read', clubApp, {
  summary: 'One entry',
  description: "One entry of the app's storage in the club of the token.",
  returns: 'The entry.',
  headers: { ifMatch: 'If-Match' },
  responseHeaders,
  fails: ['keyUnknown', 'entryChanged'],
})
  .input(address.extend({ ifMatch }))
  .output(entry)
  .query(async ({ ctx, input }) => {
    const { core, call } = ctx
    const found = await getEntry(core.db, toCollection(ctx, input), input.key, call.reserve)
    if (!found) throw errors.keyUnknown()
    const { key, value, updatedAt, version } = found
    if (!meetsIfMatch(version, input.ifMatch)) throw errors.entryChanged()
    return { key, value: call.json([value]), updatedAt, etag: etag(version) }
  })

/** Rule 9: creates or replaces an entry. Over the quota nothing is stored, but a write that does not grow always is. */
const put = endpoint('PUT /storage/{collection}/{key}', 'svc.apps.storage:write', clubApp, {
  summary: 'Creates or replaces an entry',
  description:
    'Stores any JSON under a key. All entries of an app in a club, for all its members and both scopes, share 10 MB and 1,000,000 entries. Writes beyond that are refused, unless the entry exists and does not grow. `If-Match` and `If-None-Match` prevent writers from replacing changes that they have not seen.',
  returns: 'The entry as stored.',
  query: ['scope'],
  headers,
  responseHeaders,
  raw: 'value',
  reportsUsage: true,
  insertsRow: true,
  takesKey: true,
  fails: ['valueMissing', 'valueNotAlone', 'valueTooDeep', 'entryNotOwn', 'entryChanged', 'quotaExceeded'],
})
  // Before the input, whose body is refused for its size as well.
  .use(async ({ ctx: { core, call, app, club }, next }) => {
    const result = await next()
    if (!result.ok && result.error.code === 'PAYLOAD_TOO_LARGE') {
      setUsage(call, await usedBytes(core.db, { app, club }), core.storageQuotaBytes)
    }
    return result
  })
  .input(written.extend({ value: storedValue.refine((value) => value !== undefined, withError('valueMissing')) }))
  .output(entry)
  .mutation(async ({ ctx, input }) => {
    const { core, call } = ctx
    const { key, idempotencyKey: once } = input
    const given: unknown = input.value
    const { db, storageQuotaBytes: quotaBytes } = core
    const [collection, preconditions] = [toCollection(ctx, input), conditions(input)]
    const minBytes = call.minBytes(given)
    // A rule refuses before the quota, once the body is read.
    if (minBytes > 0 && !(ctx.ruled && input.scope === 'org')) {
      const size = { key, bytes: minBytes, quotaBytes }
      const isRepeated = async () => once !== undefined && isKnown(ctx, once)
      if ((await isBeyondQuota(db, collection, size, preconditions)) && !(await isRepeated())) {
        throw errors.quotaExceeded()
      }
    }
    const value = await call.text(given)
    if (once !== undefined) {
      const done = await writeOnce(ctx, once, { op: 'put', ...collection, ...preconditions, key, value })
      return { key, value: call.json([value]), updatedAt: done.updatedAt!, etag: etag(done.version!) }
    }
    const updatedAt = Math.floor(core.now() / 1000)
    const entry = { key, value, updatedAt, quotaBytes, writer: ctx.member, ruled: ctx.ruled }
    const { outcome, used, version } = await putEntry(db, collection, entry, preconditions)
    if (outcome === 'full') throw errors.quotaExceeded()
    setUsage(call, used, quotaBytes)
    if (outcome === 'refused') throw errors.entryNotOwn()
    if (outcome === 'changed') throw errors.entryChanged()
    core.watch.wake(collection)
    return { key, value: call.json([value]), updatedAt, etag: etag(version) }
  })

/** Rule 10. */
const remove = endpoint('DELETE /storage/{collection}/{key}', 'svc.apps.storage:write', clubApp, {
  summary: 'Removes an entry',
  description: "Removes one entry of the app's storage in the club of the token.",
  returns: 'The entry is removed.',
  status: 204,
  headers,
  reportsUsage: true,
  takesKey: true,
  fails: ['entryNotOwn', 'keyUnknown', 'entryChanged'],
})
  .input(written)
  .output(z.void())
  .mutation(async ({ ctx, input }) => {
    const { core, call } = ctx
    const { key, idempotencyKey: once } = input
    const [collection, preconditions] = [toCollection(ctx, input), conditions(input)]
    if (once !== undefined) {
      await writeOnce(ctx, once, { op: 'delete', ...collection, ...preconditions, key, value: null })
      return
    }
    const removal = { key, bound: ctx.ruled ? ctx.member : null }
    const { outcome, used } = await deleteEntry(core.db, collection, removal, preconditions)
    setUsage(call, used, core.storageQuotaBytes)
    if (outcome === 'refused') throw errors.entryNotOwn()
    if (outcome === 'changed') throw errors.entryChanged()
    if (outcome === 'absent') throw errors.keyUnknown()
    core.watch.wake(collection)
  })

export const storage = router({ list, get, put, delete: remove })
