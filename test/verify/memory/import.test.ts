import { beforeAll, expect, it } from 'vitest'
import { dataDirectory } from '../../process/service.ts'
import { migratedDatabase, query } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import { rowsWritten, runImport } from '../import-process.ts'
import { noteFigure } from '../noted-figure.ts'
import { scaleSizes, writePlatformFiles } from '../platform-files.ts'

const atEnd = endingAfterAll()
let directory: string
beforeAll(async () => {
  directory = await dataDirectory(atEnd)
})

const sizes = scaleSizes(times(1, 20))
const parseCounts = (output: string) =>
  Object.fromEntries(
    [...output.matchAll(/^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$/gm)].map(([, recordType, ...counts]) => [
      recordType,
      counts.map(Number),
    ]),
  )
const each = (counts: (size: number, recordType: string) => number[]) =>
  Object.fromEntries(Object.entries(sizes).map(([recordType, size]) => [recordType, counts(size, recordType)]))

/** The figures of docs/records/import.md: those with a bound are held to it. */
async function measured(name: string, url: string, bounds: Partial<Record<'seconds' | 'megabytes', number>>) {
  const { output, ...figures } = await runImport(directory, url)
  for (const [what, value] of Object.entries(figures)) {
    const bound = bounds[what as keyof typeof bounds]
    noteFigure({ name: `${name}, ${what}`, value, unit: what === 'megabytes' ? 'MB' : 's', ...(bound && { bound }) })
    if (bound) expect.soft(value, what).toBeLessThan(bound)
  }
  return parseCounts(output)
}

it('a large platform is imported in little memory, and again without a row written', async () => {
  const url = await migratedDatabase()
  await writePlatformFiles(directory, sizes)
  // 241 MB, of which 92 are Node with its libraries.
  const first = await measured('import', url, { seconds: 90, megabytes: 300 })
  expect(first).toEqual(each((size) => [size, 0, 0, 0, 0]))

  const versions = () =>
    query(
      url,
      'SELECT max(xmin::text::bigint) AS person, (SELECT max(xmin::text::bigint) FROM "Event") AS event FROM "Person"',
    )
  const [before, written] = [await versions(), await rowsWritten(url)]
  const again = await measured('import, unchanged', url, { seconds: 30, megabytes: 300 })
  expect(again).toEqual(each((size) => [0, 0, size, 0, 0]))
  expect((await rowsWritten(url)) - written).toBe(0)
  expect(await versions()).toEqual(before)

  await writePlatformFiles(directory, sizes, ' (neu)')
  const changed = ['people', 'memberships', 'groups', 'events', 'results']
  const inHundred = (recordType: string, size: number) => (changed.includes(recordType) ? Math.ceil(size / 100) : 0)
  const later = await measured('import, 1 % changed', url, { megabytes: 300 })
  expect(later).toEqual(
    each((size, recordType) => [0, inHundred(recordType, size), size - inHundred(recordType, size), 0, 0]),
  )
  const sum = Object.entries(sizes).reduce((total, [recordType, size]) => total + inHundred(recordType, size), 0)
  expect((await rowsWritten(url)) - written).toBe(sum)
})
