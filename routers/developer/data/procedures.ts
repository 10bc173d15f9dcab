import { z } from 'zod'
import { int, nullable, statement, text, texts, uuid } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { withLabels } from '../../kernel/labels.ts'
import { appId, page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { MAX_NESTING, measureNesting } from '../../kernel/raw-json/text.ts'
import { unix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { etag } from '../../storage/entry.ts'
import { entryName } from '../../storage/procedures.ts'
import { conditions } from '../../storage/rules.ts'
import { deleteEntry, putEntry } from '../../storage/statements.ts'
import type { Caller } from '../access/roles.ts'
import { teamOfApp } from '../access/roles.ts'
import { readNames } from '../shared/names.ts'
import { idOr, more, named } from '../shared/schemas.ts'
import { fault, refuseIf } from '../shared/validation.ts'
import { findCollection, findStore, listStores } from './store.ts'

/** Bytes of a value that are shown; a larger one is read over the API. */
export const MAX_SHOWN = 64 * 1024

const app = appId('app')
const store = z.object({ app, club: idOr('keyUnknown') })
const owner = idOr('keyUnknown').meta({ description: "The member; '' for shared entries" })
const collection = store.extend({ owner, collection: entryName })
const one = collection.extend({ key: entryName })
const seen = one.extend({ etag: z.string().meta({ description: 'As it was read; another one is 409' }) })
const writer = named.nullable().meta({ description: 'A member; null for private entries, and if unknown' })
const facts = {
  bytes: z.int(),
  updatedAt: z.int().meta({ description: 'Unix seconds' }),
  updatedBy: writer,
  etag: z.string(),
}
const environment = z.enum(['sandbox', 'production'])
const place = { club: named, owner: named.nullable().meta({ description: 'The member; null for shared entries' }) }

const statements = {
  collections: statement(
    'data_collections',
    `SELECT owner, collection, entries FROM "StorageCollection" WHERE "appId" = $app AND "clubId" = $club
        AND ($owners::text[] IS NULL OR owner = ANY ($owners::text[]))
      ORDER BY owner, collection LIMIT $limit::int8 OFFSET $offset::int8`,
    { app: text, club: text, owners: nullable(texts), limit: int, offset: int },
    { owner: text, collection: text, entries: int },
  ),
  entries: statement(
    'data_entries',
    `SELECT key, octet_length(value) AS bytes, ${unix('"updatedAt"')} AS "updatedAt", version, "updatedBy"
      FROM "StorageEntry" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection
      ORDER BY key LIMIT $limit::int8 OFFSET $offset::int8`,
    { app: text, club: text, owner: text, collection: text, limit: int, offset: int },
    { key: text, bytes: int, updatedAt: int, version: uuid, updatedBy: nullable(text) },
  ),
  entry: statement(
    'data_entry',
    `SELECT octet_length(value) AS bytes, CASE WHEN octet_length(value) <= $maxBytes THEN value END AS value,
        ${unix('"updatedAt"')} AS "updatedAt", version, "createdBy", "updatedBy"
      FROM "StorageEntry" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection AND key = $key`,
    { app: text, club: text, owner: text, collection: text, key: text, maxBytes: int },
    {
      bytes: int,
      value: nullable(text),
      updatedAt: int,
      version: uuid,
      createdBy: nullable(text),
      updatedBy: nullable(text),
    },
  ),
}

const stores = internal('dev:read', teamPeople, {
  summary: "The clubs in which an app stores something: the team's test club, and for owners those they are members of",
  fails: ['ownAppUnknown'],
})
  .input(z.object({ app, ...page }))
  .output(z.object({ items: z.array(z.object({ club: named, environment, bytes: z.int() })), more }))
  .query(async ({ ctx, input: { app, limit, offset } }) => {
    await teamOfApp(ctx, app)
    const rows = await listStores(ctx, app, { limit, offset })
    const items = withLabels(rows.slice(0, limit)).map(({ id, name, ...row }) => ({ club: { id, name }, ...row }))
    return { items, more: rows.length > limit }
  })

const collections = internal('dev:read', teamPeople, {
  summary: "The collections of an app's store in a club: in production the shared and the person's own",
  fails: ['ownAppUnknown', 'keyUnknown'],
})
  .input(store.extend(page))
  .output(
    z.object({
      club: named,
      environment,
      items: z.array(
        z.object({
          owner: place.owner,
          collection: z.string(),
          entries: z.int(),
        }),
      ),
      more,
    }),
  )
  .query(async ({ ctx, input: { limit, offset, ...of } }) => {
    const { club, owners, environment } = await findStore(ctx, of)
    const values = { app: of.app, club: club.id, owners: owners ?? null, limit: limit + 1, offset }
    const rows = await ctx.core.db.execute(statements.collections, values)
    const ids = rows.map(({ owner }) => owner)
    const person = await readPeople(ctx, ids)
    const items = rows.slice(0, limit).map(({ owner, ...row }) => ({ owner: person(owner), ...row }))
    return { club, environment, items, more: rows.length > limit }
  })

const entries = internal('dev:read', teamPeople, {
  summary: 'The entries of a collection, by key, without their values',
  fails: ['ownAppUnknown', 'keyUnknown'],
})
  .input(collection.extend(page))
  .output(z.object({ ...place, items: z.array(z.object({ key: z.string(), ...facts })), more }))
  .query(async ({ ctx, input: { limit, offset, ...of } }) => {
    const { store, at } = await findCollection(ctx, of)
    const values = { ...at, limit: limit + 1, offset }
    const rows = await ctx.core.db.execute(statements.entries, values)
    const person = await readPeople(ctx, [at.owner, ...rows.map(({ updatedBy }) => updatedBy)])
    const items = rows.slice(0, limit).map(({ version, updatedBy, ...row }) => ({
      ...row,
      updatedBy: person(updatedBy),
      etag: etag(version),
    }))
    return { club: store.club, owner: person(at.owner), items, more: rows.length > limit }
  })

/** Id and name of each person; null for '' and null. */
async function readPeople({ core }: Caller, ids: readonly (string | null)[]) {
  const names = await readNames(core.db, ids)
  return (id: string | null) => (id ? { id, name: names.get(id) ?? id } : null)
}

const entry = internal('dev:read', teamPeople, {
  summary: 'One entry, with its JSON text',
  fails: ['ownAppUnknown', 'keyUnknown'],
})
  .input(one)
  .output(
    z.object({
      ...place,
      ...facts,
      createdBy: writer,
      environment,
      value: z
        .string()
        .nullable()
        .meta({ description: `The JSON text, byte for byte; null above ${MAX_SHOWN / 1024} KiB` }),
    }),
  )
  .query(async ({ ctx, input: { key, ...of } }) => {
    const { store, at } = await findCollection(ctx, of)
    const [row] = await ctx.core.db.execute(statements.entry, { ...at, key, maxBytes: MAX_SHOWN })
    if (!row) throw errors.keyUnknown()
    const { version, createdBy, updatedBy, ...rest } = row
    const person = await readPeople(ctx, [at.owner, createdBy, updatedBy])
    const { club, environment } = store
    return {
      club,
      environment,
      owner: person(at.owner),
      ...rest,
      etag: etag(version),
      createdBy: person(createdBy),
      updatedBy: person(updatedBy),
    }
  })

/** A collection of the team's test club. Throws 404 for another club. */
async function findSandbox(ctx: Caller, of: Parameters<typeof findCollection>[1]) {
  const { store, at } = await findCollection(ctx, of)
  if (store.environment !== 'sandbox') throw errors.keyUnknown()
  return at
}

const put = internal('dev:write', teamPeople, {
  summary: "Replaces the JSON text of an entry in the team's test club",
  fails: ['ownAppUnknown', 'keyUnknown', 'changedMeanwhile', 'quotaExceeded'],
})
  .input(seen.extend({ value: z.string().max(MAX_SHOWN).meta({ minLength: 1 }) }))
  .output(z.object({ etag: z.string() }))
  .mutation(async ({ ctx, input: { key, value: typed, etag: read, ...of } }) => {
    const at = await findSandbox(ctx, of)
    const value = typed.trim()
    refuseIf((await isJson(value)) ? [] : [fault('value', 'value')])
    const { db, now, storageQuotaBytes: quotaBytes } = ctx.core
    const entry = { key, value, updatedAt: Math.floor(now() / 1000), quotaBytes, writer: null, ruled: false }
    const { outcome, version } = await putEntry(db, at, entry, conditions({ ifMatch: read }))
    if (outcome === 'full') throw errors.quotaExceeded()
    if (outcome === 'changed') throw errors.changedMeanwhile()
    ctx.core.watch.wake(at)
    return { etag: etag(version) }
  })

async function isJson(text: string): Promise<boolean> {
  try {
    JSON.parse(text)
  } catch {
    return false
  }
  return (await measureNesting(text)) <= MAX_NESTING
}

const remove = internal('dev:write', teamPeople, {
  summary: "Removes an entry from the team's test club",
  fails: ['ownAppUnknown', 'keyUnknown', 'changedMeanwhile'],
})
  .input(seen)
  .output(z.object({ key: z.string() }))
  .mutation(async ({ ctx, input: { key, etag: read, ...of } }) => {
    const at = await findSandbox(ctx, of)
    const { outcome } = await deleteEntry(ctx.core.db, at, { key, bound: null }, conditions({ ifMatch: read }))
    if (outcome !== 'deleted') throw errors.changedMeanwhile()
    ctx.core.watch.wake(at)
    return { key }
  })

export const data = router({ stores, collections, entries, entry, put, remove })
