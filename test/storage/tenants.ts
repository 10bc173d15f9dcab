import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeEach, inject } from 'vitest'
import type { Database, PoolOptions } from '../../prisma/client.ts'
import { callAs, createCore } from '../../routers/core.ts'
import type { Core } from '../../routers/kernel/context.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { direct } from '../support/addresses.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'

/** A pool on the run's database, or another, whose sessions have these settings of PostgreSQL. */
export function openWith(
  settings: Record<string, string>,
  databaseUrl = inject('databaseUrl'),
  more: PoolOptions = {},
): Database {
  const url = new URL(direct(databaseUrl))
  const options = Object.entries({ timezone: 'UTC', ...settings }).map(([name, value]) => `-c ${name}=${value}`)
  url.searchParams.set('options', options.join(' '))
  return openTestDatabase(url.href, more)
}

/** For all tests of a file. */
export function openPool(settings: Record<string, string>): Database {
  const db = openWith(settings)
  afterAll(() => db.$disconnect())
  return db
}

/** For all tests of a file: two pools, as two nodes have them. */
export const twoPools = (settings: Record<string, string>) => ({ db: openPool(settings), other: openPool(settings) })

/** Two of everything: teams with an app each, clubs, and people who are members of both clubs. */
export type Tenants = Record<'teams' | 'apps' | 'clients' | 'clubs' | 'people', [string, string]>

const two = (name: string): [string, string] => [id(name), id(name)]

export async function mintTenants(db: Database): Promise<Tenants> {
  const [teams, apps, clients, clubs, people] = [two('team'), two('app'), two('client'), two('club'), two('person')]
  const provider = id('provider')
  await db.organisation.createMany({
    data: [
      { id: provider, kind: 'provider', name: 'Provider' },
      ...clubs.map((club) => ({ id: club, kind: 'club' as const, name: 'Club' })),
    ],
  })
  await db.person.createMany({
    data: people.map((person) => ({ id: person, firstName: 'N', lastName: 'N', email: 'n@example.org' })),
  })
  await db.membership.createMany({
    data: clubs.flatMap((organisationId) => people.map((personId) => ({ organisationId, personId }))),
  })
  await db.team.createMany({ data: teams.map((team) => ({ id: team, name: 'Team', level: 'hobby' as const })) })
  await db.app.createMany({
    data: apps.map((app, i) => ({ id: app, name: 'App', teamId: teams[i]!, providerId: provider })),
  })
  await db.client.createMany({
    data: clients.map((client, i) => ({
      id: client,
      name: 'Client',
      teamId: teams[i]!,
      appId: apps[i]!,
      environment: 'production' as const,
    })),
  })
  return { teams, apps, clients, clubs, people }
}

/** Others for each test of a file. */
export function tenantsOfEach(db: Database): Tenants {
  const tenants = {} as Tenants
  beforeEach(async () => void Object.assign(tenants, await mintTenants(db)))
  return tenants
}

export const testCore = (db: Database, now = Date.now): Core =>
  createCore({ db, now, cipher: createCipher([randomBytes(32)]), brand: '', storageQuotaBytes: 10 * 1024 * 1024 })

const either = fc.constantFrom<0 | 1>(0, 1)

/** A write to an app's storage as a member of a club. */
export const write = fc.record({
  app: either,
  club: either,
  person: either,
  scope: fc.constantFrom<'org' | 'user'>('org', 'user'),
  collection: fc.constantFrom('scores', 'notes'),
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  value: fc.jsonValue() as fc.Arbitrary<Json>,
})

/** The procedures of an app for a member of a club. */
export function createCaller(
  core: Core,
  { clients, clubs, people }: Tenants,
  app: number,
  club: number,
  person: number,
) {
  const [client, organisation, member] = [clients[app]!, clubs[club]!, people[person]!]
  return callAs(core, { client, organisation, member, scopes: new Set(memberScopes) })
}

export const createStorage = (...of: Parameters<typeof createCaller>) => createCaller(...of).storage

/** All entries of the apps. */
export const listEntries = (db: Database, { apps }: Tenants) =>
  db.storageEntry.findMany({
    where: { appId: { in: apps } },
    orderBy: [{ appId: 'asc' }, { clubId: 'asc' }, { owner: 'asc' }, { collection: 'asc' }, { key: 'asc' }],
  })

type Entries = Awaited<ReturnType<typeof listEntries>>

/** The non-zero counters by app and club; `sumEntries` computes them from the entries. */
export async function readCounters(db: Database, { apps }: Tenants) {
  const rows = await db.storageUsage.findMany({ where: { appId: { in: apps }, bytes: { not: 0 } } })
  return Object.fromEntries(rows.map(({ appId, clubId, bytes }) => [`${appId} ${clubId}`, Number(bytes)]))
}

export function sumEntries(entries: Entries) {
  const sums: Record<string, number> = {}
  for (const { appId, clubId, value } of entries) {
    const place = `${appId} ${clubId}`
    sums[place] = (sums[place] ?? 0) + Buffer.byteLength(value)
  }
  return sums
}

interface Tally {
  entries: number
  bytes: number | null
}

/** The entries and bytes by collection that the triggers keep; `tallyEntries` sums the entries. */
export async function readTallyRows(db: Database, { apps }: Tenants) {
  const rows = await db.storageCollection.findMany({ where: { appId: { in: apps } } })
  return Object.fromEntries(
    rows.map((row): [string, Tally] => [
      toCollection(row),
      { entries: Number(row.entries), bytes: row.bytes === null ? null : Number(row.bytes) },
    ]),
  )
}

export function tallyEntries(stored: Entries) {
  const tallies: Record<string, Tally> = {}
  for (const entry of stored) {
    const { entries, bytes } = tallies[toCollection(entry)] ?? { entries: 0, bytes: 0 }
    tallies[toCollection(entry)] = { entries: entries + 1, bytes: bytes! + Buffer.byteLength(entry.value) }
  }
  return tallies
}

/** When each collection was last written, in Unix seconds, where the triggers know it; `findNewest` reads it from the entries. */
export async function readKnownTimes(db: Database, { apps }: Tenants) {
  const rows = await db.storageCollection.findMany({ where: { appId: { in: apps }, updatedAt: { not: null } } })
  return Object.fromEntries(rows.map((row) => [toCollection(row), Math.floor(row.updatedAt!.getTime() / 1000)]))
}

export function findNewest(stored: Entries) {
  const newest: Record<string, number> = {}
  for (const entry of stored) {
    const at = Math.floor(entry.updatedAt.getTime() / 1000)
    newest[toCollection(entry)] = Math.max(newest[toCollection(entry)] ?? 0, at)
  }
  return newest
}

/** The numbers of entries by app and club that the triggers keep; `countEntries` counts the entries. */
export async function readCountRows(db: Database, { apps }: Tenants) {
  const rows = await db.storageUsage.findMany({ where: { appId: { in: apps }, entries: { not: 0 } } })
  return Object.fromEntries(rows.map(({ appId, clubId, entries }) => [`${appId} ${clubId}`, Number(entries)]))
}

export function countEntries(stored: Entries) {
  const counts: Record<string, number> = {}
  for (const { appId, clubId } of stored) counts[`${appId} ${clubId}`] = (counts[`${appId} ${clubId}`] ?? 0) + 1
  return counts
}

const toCollection = ({
  appId,
  clubId,
  owner,
  collection,
}: Pick<Entries[number], 'appId' | 'clubId' | 'owner' | 'collection'>) => [appId, clubId, owner, collection].join(' ')
