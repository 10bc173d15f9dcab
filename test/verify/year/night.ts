import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandEntry, run, until } from '../../process/service.ts'
import { ask } from '../../support/ask.ts'
import { delivered } from './delivered.ts'
import { CLUBS, FIRST_CONSENTED, MEMBERS } from './platform.ts'
import type { YearWorld } from './world.ts'

const DAY_S = 86_400
const [NEW, LEAVING, CHANGED, EVENTS] = [20, 20, 50, 200] as const
/** Clubs that plan their events on a day: apps hear of them for each of their members. */
const PLANNING = 4
/** Nights between two files of all people and events, which also end what they lack. */
const FULL = 28
/** An event is in the files from two weeks before it until this many days after it. */
const EVENT_DAYS = 60
/** An event that a file lacks is ended by the next one of all. */
export const EVENTS_KEPT_DAYS = EVENT_DAYS + FULL

/** The platform's records, as they are on a day. */
export interface Records {
  /** By number; those who were erased are not among them. */
  people: Map<number, string>
  events: { id: string; club: string; start: number }[]
  added: number
}

export const firstRecords = (): Records => ({
  people: new Map(Array.from({ length: MEMBERS }, (_, n) => [n, ''])),
  events: [],
  added: MEMBERS,
})

const person = (n: number, edition: string) => ({
  id: `person-${n}`,
  firstName: `Jörg ${n}`,
  lastName: `Weiß-Müller ${n}${edition}`,
  email: `person-${n}@example.org`,
})
const event = ({ start, ...own }: Records['events'][number]) => ({
  ...own,
  title: 'Training',
  start,
  end: start + 7_200,
  location: 'Hall',
  state: 'published',
})

/** Runs the import of the night's files: what has changed or, some nights, all. */
export async function importNight({ clock, databaseUrl, directory, records, draw }: YearWorld, day: number) {
  const now = Math.floor(clock.now() / 1000)
  const { people, events } = records
  const club = (n: number) => `club-${n % CLUBS}`
  const changed = Array.from({ length: CHANGED }, () => draw(MEMBERS)).filter((n) => people.has(n))
  const added = Array.from({ length: NEW }, () => records.added++)
  for (const n of [...changed, ...added]) people.set(n, ` ${day}`)
  // Who signs in does not leave; half of these have allowed an app.
  const leaving = [MEMBERS / 2, FIRST_CONSENTED].flatMap((from) =>
    Array.from({ length: LEAVING / 2 }, (_, i) => from + (day * LEAVING) / 2 + i),
  )
  const memberships = [
    ...added.map((n) => ({ organisation: club(n), person: `person-${n}`, joinedAt: now })),
    ...leaving.map((n) => ({ organisation: club(n), person: `person-${n}`, leftAt: now })),
  ]
  const planned = Array.from({ length: EVENTS }, (_, i) => ({
    id: `planned-${day}-${i}`,
    club: club(day * PLANNING + (i % PLANNING)),
    start: now + 14 * DAY_S,
  }))
  const isFull = day % FULL === 1
  records.events = [...events.filter(({ start }) => start > now - EVENT_DAYS * DAY_S), ...planned]
  const files = {
    people: (isFull ? [...people.keys()] : [...new Set([...changed, ...added])]).map((n) => person(n, people.get(n)!)),
    memberships,
    events: (isFull ? records.events : planned).map(event),
  }
  const folder = join(directory, 'night')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  for (const [kind, rows] of Object.entries(files)) {
    const stated = isFull && kind !== 'memberships' ? [{ rows: rows.length }] : []
    const lines = [...rows, ...stated].map((row) => `${JSON.stringify(row)}\n`)
    await writeFile(join(folder, `${kind}.ndjson`), lines.join(''))
  }
  if (!isFull) await runImport(folder)
  else {
    await runImport(join(folder, 'people.ndjson'), '--full', '--yes')
    await runImport(join(folder, 'memberships.ndjson'))
    await runImport(join(folder, 'events.ndjson'), '--full', '--yes')
  }

  async function runImport(...args: string[]) {
    const env = { ...clock.env, DATABASE_URL: databaseUrl }
    const { code, stdout, stderr } = await run([commandEntry, 'import', ...args], env).ended
    if (code !== 0) throw new Error(`The import of day ${day} failed.\n${stdout}${stderr}`)
  }
}

/** The number of hourly tasks that a sweep begins (routers/kernel/housekeeping.ts). */
const BEGUN_A_MINUTE = 2
/** A sweep with nothing to do takes some 20 ms. */
const SWEEP_MS = 3_000
/** One that a jump of the clock has interrupted leaves a lease until the next jump. */
const INTERRUPTED_MS = 10_000
/** Looks, 20 ms apart, that see no task in progress: between two tasks of a sweep, one look may. */
const STILL = 3
/** Three times as many as the tasks take, as one that fails is repeated five minutes later. */
const MAX_SWEEPS = 45

/**
 * The minutes of housekeeping, until each of its tasks has been done since `from`. The clock goes on once a sweep has done its
 * tasks: a statement in progress would time out.
 */
export async function keepHouse(world: YearWorld, from: number) {
  const { clock, databaseUrl, wake, output } = world
  const isLeft = `"finishedAt" IS NULL OR "finishedAt" < to_timestamp(${from / 1000})`
  const readLeft = async (): Promise<string[]> => {
    const rows = await ask(databaseUrl, `SELECT name FROM "Housekeeping" WHERE ${isLeft}`)
    return rows.map(({ name }) => name)
  }
  /** A task publishes events, whose deliveries a jump of the clock would interrupt. */
  const isSweeping = async (): Promise<boolean> => {
    const [row] = await ask(
      databaseUrl,
      `SELECT bool_or("leasedUntil" > clock_timestamp()) AS sweeping FROM "Housekeeping"`,
    )
    return row.sweeping ?? false
  }
  let left: string[]
  let sweeps = 0
  do {
    await delivered(world)
    left = await readLeft()
    await clock.advance(61)
    await wake()
    const start = performance.now()
    let still = 0
    const isSwept = async () => {
      const waited = performance.now() - start
      still = (await isSweeping()) ? 0 : still + 1
      if (still < STILL) return waited > INTERRUPTED_MS
      return waited > SWEEP_MS || (await readLeft()).length <= Math.max(0, left.length - BEGUN_A_MINUTE)
    }
    await until(isSwept, (swept) => swept)
    left = await readLeft()
    if (++sweeps > MAX_SWEEPS) throw new Error(`Housekeeping does not do: ${left}\n${output()}`)
  } while (left.length > 0)
  await delivered(world)
}
