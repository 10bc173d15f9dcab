import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { rowsWritten, runImport } from '../../../bench/import-process.ts'
import { noteFigure } from '../../../bench/noted-figure.ts'
import { sizesOf, writePlatformFiles } from '../../../bench/platform-files.ts'
import { migratedDatabase, query } from '../../support/databases.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'member-apps-files-'))
  return () => rm(directory, { recursive: true })
})

const sizes = sizesOf(20)
const countsOf = (output: string) =>
  Object.fromEntries(
    [...output.matchAll(/^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$/gm)].map(([, kind, ...counts]) => [
      kind,
      counts.map(Number),
    ]),
  )
const each = (counts: (size: number) => number[]) =>
  Object.fromEntries(Object.entries(sizes).map(([kind, size]) => [kind, counts(size)]))

it('a twentieth of a large platform is imported in little memory, and again without a row written', {
  timeout: 300_000,
}, async () => {
  const url = await migratedDatabase()
  await writePlatformFiles(directory, sizes)
  const first = await runImport(directory, url)
  expect(countsOf(first.output)).toEqual(each((size) => [size, 0, 0, 0, 0]))
  // 180 MB, of which 92 are Node with its libraries.
  noteFigure({ name: 'import', value: first.maxRSS / 1024, unit: 'MB', bound: 300 })
  expect(first.maxRSS / 1024).toBeLessThan(300)

  const versions = () =>
    query(
      url,
      'SELECT max(xmin::text::bigint) AS person, (SELECT max(xmin::text::bigint) FROM "Event") AS event FROM "Person"',
    )
  const [before, written] = [await versions(), await rowsWritten(url)]
  const again = await runImport(directory, url)
  expect(countsOf(again.output)).toEqual(each((size) => [0, 0, size, 0, 0]))
  expect((await rowsWritten(url)) - written).toBe(0)
  expect(await versions()).toEqual(before)

  await writePlatformFiles(directory, sizes, ' (neu)')
  const later = await runImport(directory, url)
  const changed = ['people', 'memberships', 'groups', 'events', 'results']
  const inHundred = (kind: string, size: number) => (changed.includes(kind) ? Math.ceil(size / 100) : 0)
  expect(countsOf(later.output)).toEqual(
    Object.fromEntries(
      Object.entries(sizes).map(([kind, size]) => {
        const different = inHundred(kind, size)
        return [kind, [0, different, size - different, 0, 0]]
      }),
    ),
  )
  const sum = Object.entries(sizes).reduce((total, [kind, size]) => total + inHundred(kind, size), 0)
  expect((await rowsWritten(url)) - written).toBe(sum)
})
