import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Records of each kind. */
const FULL = {
  organisations: 100,
  people: 100_000,
  memberships: 100_000,
  groups: 10_000,
  groupMembers: 300_000,
  calendars: 100,
  events: 200_000,
  disciplines: 100,
  competitions: 500,
  results: 200_000,
}
export type Sizes = typeof FULL
type RecordType = keyof Sizes

/** A twentieth is `scaleSizes(20)`. */
export const scaleSizes = (part: number): Sizes =>
  Object.fromEntries(Object.entries(FULL).map(([recordType, size]) => [recordType, size / part])) as Sizes

const CSV: readonly RecordType[] = ['people', 'memberships', 'groupMembers', 'results']
const HOUR = 3600
const START = 1_700_000_000
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

/**
 * Writes a file of each kind, half of them CSV. With `edition`, one person, membership, group, event and result in a
 * hundred differ from those without.
 */
export async function writePlatformFiles(directory: string, sizes: Sizes, edition = '') {
  await mkdir(directory, { recursive: true })
  for (const [recordType, record] of Object.entries(makeRecords(sizes, edition))) {
    const format = CSV.includes(recordType as RecordType) ? 'csv' : 'ndjson'
    const lines = generateLines(format, record, sizes[recordType as RecordType])
    await pipeline(Readable.from(lines), createWriteStream(join(directory, `${recordType}.${format}`)))
  }
}

/** The i-th record of each kind. Clubs, calendars, groups and people of the same remainder belong together. */
function makeRecords(sizes: Sizes, edition: string): Record<RecordType, (i: number) => object> {
  const { organisations: clubs, people, groups, competitions, disciplines } = sizes
  const club = (i: number) => `club-${i % clubs}`
  const changed = (i: number) => edition !== '' && i % 100 === 0
  const name = (i: number) => `Weiß-Müller ${i}${changed(i) ? edition : ''}`
  return {
    organisations: (i) => ({ id: `club-${i}`, kind: 'club', name: `Turnverein ${i} e. V.` }),
    people: (i) => ({
      id: `person-${i}`,
      firstName: `Jörg ${i}`,
      lastName: name(i),
      email: `person-${i}@example.org`,
      birthday: iso((i % 20_000) * 24 * HOUR).slice(0, 10),
      image: '',
    }),
    memberships: (i) => ({
      organisation: club(i),
      person: `person-${i}`,
      joinedAt: START + (i % 1000) * HOUR + Number(changed(i)),
      leftAt: null,
    }),
    groups: (i) => ({ id: `group-${i}`, club: club(i), name: name(i) }),
    // 30 people of the group's club.
    groupMembers: (i) => {
      const [group, place] = [Math.floor(i / 30), i % 30]
      const person = (group + clubs * place * 31) % people
      return { group: `group-${group}`, person: `person-${person}`, role: place === 0 ? 'trainer' : 'member' }
    },
    calendars: (i) => ({ id: `calendar-${i}`, club: club(i), name: `Kalender ${i}`, visible: true }),
    events: (i) => ({
      id: `event-${i}`,
      club: club(i),
      title: name(i),
      start: START + i * HOUR,
      end: START + (i + 2) * HOUR,
      location: `Sporthalle ${i % 500}`,
      state: 'published',
      calendar: i % 2 ? `calendar-${i % clubs}` : null,
      groups: i % 2 ? [] : [`group-${i % groups}`, `group-${(i + clubs) % groups}`],
    }),
    disciplines: (i) => ({ id: `discipline-${i}`, name: `${(i + 1) * 100} m` }),
    competitions: (i) => ({ id: `competition-${i}`, host: club(i), name: `Pokal ${i}`, clubs: [club(i), club(i + 1)] }),
    results: (i) => ({
      id: `result-${i}`,
      competition: `competition-${i % competitions}`,
      person: `person-${i % people}`,
      discipline: `discipline-${i % disciplines}`,
      place: i % 7 ? (i % 8) + 1 : null,
      score: (i % 9973) / 100 + Number(changed(i)),
      timestamp: iso(START + i * 60),
    }),
  }
}

function* generateLines(format: string, record: (i: number) => object, count: number) {
  if (format === 'csv') yield `${Object.keys(record(0)).join(',')}\n`
  for (let first = 0; first < count; first += 1000) {
    let text = ''
    for (let i = first; i < Math.min(count, first + 1000); i++) {
      text += `${format === 'csv' ? Object.values(record(i)).join(',') : JSON.stringify(record(i))}\n`
    }
    yield text
  }
}
