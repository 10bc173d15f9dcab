import { afterAll } from 'vitest'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { recordTypeNames } from '../../routers/directory/record-types.ts'
import { migratedDatabase } from '../support/databases.ts'
import { asPlatform } from '../support/platform.ts'
import { started } from '../support/started.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: the records of all kinds
export type AnyRecord = Record<string, any>

interface AnyKind {
  upsert: (input: { items: readonly unknown[] }) => Promise<{ added: number; changed: number; unchanged: number }>
  end: (input: { ids: readonly unknown[] }) => Promise<{ ended: number }>
  list: (input?: { after?: unknown; limit?: number }) => Promise<{ items: AnyRecord[]; next: unknown }>
}

/** The procedures of a kind, for tests of all kinds. */
export const ofKind = (world: World, recordType: RecordTypeName) =>
  asPlatform(world).directory[recordType] as unknown as AnyKind

/** A service with an empty database of its own, as `list` returns the records of the whole platform, and with two clients. */
export const directoryWorld = () =>
  started(
    async () => {
      const url = await migratedDatabase(afterAll)
      const world = await startWorld({ databaseUrl: url })
      const { db, ids } = world
      await db.client.create({ data: { id: ids.platform, name: 'Platform', environment: 'production' } })
      await db.team.create({ data: { id: ids.team, name: 'Team', level: 'developer' } })
      await db.client.create({ data: { id: ids.client, name: 'Client', teamId: ids.team, environment: 'sandbox' } })
      return { ...world, url }
    },
    (world) => world.close(),
  )

type Samples = Record<RecordTypeName, AnyRecord>

/** Stores an academy and a guardian for the samples, and the samples of the kinds that come before `kind`, or of all. */
export const storeSamples = (world: World, samples: Samples, before?: RecordTypeName) =>
  storeAll(world, [{ samples, ...(before && { before }) }])

/** `storeSamples` for several, in one call of each kind. */
export async function storeAll(world: World, all: readonly { samples: Samples; before?: RecordTypeName }[]) {
  const academies = all.map(({ samples }) => ({ id: samples.lessons.academy, kind: 'academy', name: 'Academy' }))
  await ofKind(world, 'organisations').upsert({ items: academies })
  const guardian = { firstName: 'Gio', lastName: 'O’Hara', email: '' }
  const guardians = all.map(({ samples }) => ({ id: samples.guardians.guardian, ...guardian }))
  await ofKind(world, 'people').upsert({ items: guardians })
  for (const [at, recordType] of recordTypeNames.entries()) {
    const items = all
      .filter(({ before }) => !before || at < recordTypeNames.indexOf(before))
      .map(({ samples }) => samples[recordType])
    if (items.length > 0) await ofKind(world, recordType).upsert({ items })
  }
}

/** What `list` returns of this record. */
export async function stored(world: World, recordType: RecordTypeName, record: AnyRecord) {
  const { items } = await ofKind(world, recordType).list({ limit: 200 })
  const keys = ['organisation', 'person', 'group', 'role', 'child', 'guardian'].filter((name) => name in record)
  const own = 'id' in record ? ['id'] : 'serial' in record ? ['serial'] : keys
  return items.find((item) => own.every((name) => item[name] === record[name]))
}

/** What the person of the samples sees. */
export async function seen(world: World, { people, organisations }: Record<RecordTypeName, AnyRecord>) {
  const claims = { sub: people.id, organisation: organisations.id }
  const paths = ['profile', 'groups', 'events', 'trainingplans', 'competitions', 'membercard']
  const replies = await Promise.all(paths.map((path) => world.call('GET', `/me/${path}`, { claims })))
  return Object.fromEntries(
    paths.map((path, i) => {
      const { status, body } = replies[i]!
      return [path, status === 200 ? body : status]
    }),
  )
}
