import { afterAll, beforeAll } from 'vitest'
import type { KindName } from '../../routers/directory/kinds.ts'
import { kindNames } from '../../routers/directory/kinds.ts'
import { migratedDatabase } from '../support/databases.ts'
import { asPlatform } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
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
export const ofKind = (world: World, kind: KindName) => asPlatform(world).directory[kind] as unknown as AnyKind

/** A service with an empty database of its own, as `list` returns the records of the whole platform, and with two clients. */
export function directoryWorld(): { readonly current: World; readonly url: string } {
  const holder = {} as { current: World; url: string }
  beforeAll(async () => {
    holder.url = await migratedDatabase(afterAll)
    holder.current = await startWorld({ databaseUrl: holder.url })
    const { db, ids } = holder.current
    await db.client.create({ data: { id: ids.platform, name: 'Platform', environment: 'production' } })
    await db.team.create({ data: { id: ids.team, name: 'Team', level: 'developer' } })
    await db.client.create({ data: { id: ids.client, name: 'Client', teamId: ids.team, environment: 'sandbox' } })
  })
  afterAll(() => holder.current.close())
  return holder
}

/** One record of each kind, in a club and an academy of their own; each is visible to its person. */
export function sampleRecords() {
  const [club, academy, person, group, calendar] = ['club', 'academy', 'person', 'group', 'calendar'].map(id) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const [competition, discipline, lesson] = ['competition', 'discipline', 'lesson'].map(id) as [string, string, string]
  const soon = Math.floor(Date.now() / 1000) + 86_400
  const question = { id: 'q1', type: 'single', text: '?', options: ['Yes', 'No'], solution: ['Yes'] }
  return {
    organisations: { id: club, kind: 'club', name: 'Ruderclub Ä' },
    people: {
      id: person,
      firstName: 'Zoë',
      lastName: 'O’Hara',
      email: `${person}@example.org`,
      birthday: '1999-12-31',
      image: '',
    },
    memberships: { organisation: club, person, joinedAt: 1_700_000_000, leftAt: null },
    groups: { id: group, club, name: 'U14' },
    groupMembers: { group, person, role: 'member' },
    calendars: { id: calendar, club, name: 'Season', visible: true },
    events: {
      id: id('event'),
      club,
      title: 'Regatta',
      start: soon,
      end: soon + 3600.5,
      location: 'Lake',
      state: 'published',
      calendar,
      groups: [group],
    },
    trainingPlans: {
      id: id('plan'),
      club,
      name: 'Winter',
      category: 'Strength',
      description: 'Twice a week',
      exercises: ['Squat', 'Squat', 'Row'],
      groups: [group],
    },
    disciplines: { id: discipline, name: '500 m' },
    competitions: { id: competition, host: club, name: 'Cup', clubs: [club] },
    results: { id: id('result'), competition, discipline, person, place: 2, score: 101.25, timestamp: 1_710_000_000 },
    memberCards: {
      serial: id('card'),
      club,
      person,
      status: 'valid',
      name: 'Zoë O’Hara',
      memberNumber: '0042',
      departments: ['Rowing', '"Kanu", {x}'],
      validUntil: '2099-12-31',
      issuedAt: 1_705_000_000,
    },
    lessons: { id: lesson, academy, title: 'Rules' },
    quizzes: {
      id: id('quiz'),
      academy,
      lesson,
      title: 'Rules, part 1',
      threshold: 66.5,
      state: 'open',
      attempts: 3,
      questions: [question, { id: 'q2', type: 'text', text: 'Why?', options: [], solution: [] }],
    },
  } satisfies Record<KindName, AnyRecord>
}

/** Stores an academy for the samples, and the samples of the kinds that come before `kind`, or of all. */
export async function storeSamples(world: World, samples: Record<KindName, AnyRecord>, before?: KindName) {
  const academy = { id: samples.lessons.academy, kind: 'academy', name: 'Academy' }
  await ofKind(world, 'organisations').upsert({ items: [academy] })
  for (const kind of kindNames) {
    if (kind === before) return
    await ofKind(world, kind).upsert({ items: [samples[kind]] })
  }
}

/** What `list` returns of this record. */
export async function stored(world: World, kind: KindName, record: AnyRecord) {
  const { items } = await ofKind(world, kind).list({ limit: 200 })
  const keys = ['organisation', 'person', 'group', 'role'].filter((name) => name in record)
  const own = 'id' in record ? ['id'] : 'serial' in record ? ['serial'] : keys
  return items.find((item) => own.every((name) => item[name] === record[name]))
}

/** What the person of the samples sees. */
export async function seen(world: World, { people, organisations }: Record<KindName, AnyRecord>) {
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
