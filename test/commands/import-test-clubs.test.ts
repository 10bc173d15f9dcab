import { expect, it, onTestFinished } from 'vitest'
import { addTestClub } from '../../routers/developer/test-club/add.ts'
import { recordTypeNames } from '../../routers/directory/record-types.ts'
import { sampleRecords } from '../directory/sample-records.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { readContent } from './database-content.ts'
import { importWorld, ndjson } from './import-world.ts'

/** A team with its test club and a result there, and files of the platform, which are imported. */
async function filled() {
  const world = await importWorld()
  const url = world.env.DATABASE_URL
  const db = openTestDatabase(url)
  onTestFinished(() => db.$disconnect())
  const team = { id: 'team', name: 'Team' }
  await db.team.create({ data: { ...team, level: 'hobby' } })
  await db.$transaction((tx) => addTestClub(tx, team, { app: null, now: new Date() }))
  const { id: quizId } = await db.quiz.findFirstOrThrow({ where: { state: 'released' } })
  const { id: personId } = await db.person.findFirstOrThrow()
  const passed = { score: 100, passed: true, reviewStatus: 'passed', gradedQuestions: 1, threshold: 60 } as const
  await db.quizResult.create({ data: { quizId, personId, ...passed, submittedAt: new Date() } })
  const own = await readContent(url)

  const samples = sampleRecords()
  const { academy } = samples.lessons
  const { guardian } = samples.guardians
  const files = {
    ...Object.fromEntries(recordTypeNames.map((kind) => [kind, [samples[kind]]])),
    organisations: [samples.organisations, { id: academy, kind: 'academy', name: 'Academy' }],
    people: [samples.people, { id: guardian, firstName: 'Gio', lastName: 'O’Hara', email: '' }],
  }
  await world.write(
    Object.fromEntries(Object.entries(files).map(([kind, records]) => [`${kind}.ndjson`, ndjson(...records)])),
  )
  expect((await world.run([world.directory])).code).toBe(0)
  return {
    ...world,
    count: (kind: string) => files[kind as keyof typeof files].length,
    /** The rows that were there before the platform's, as they were then and as far as they are the same now. */
    own,
    async same() {
      const now = await readContent(url)
      return Object.fromEntries(
        Object.entries(own).map(([table, rows]) => [table, rows.filter((row) => now[table]?.includes(row))]),
      )
    },
  }
}

it.each(recordTypeNames)('import --full of %s ends and counts no row of a test club', async (kind) => {
  const { run, write, count, own, same } = await filled()
  const rows = count(kind)
  const complete = await run([`${kind}.ndjson`, '--full', '--rows', String(rows)])
  expect([complete.code, complete.stdout]).toEqual([
    0,
    expect.stringMatching(new RegExp(`\n${kind} +0 +0 +${rows} +0 +0\n$`)),
  ])
  expect(await same()).toEqual(own)

  await write({ [`${kind}.ndjson`]: '{"rows":0}\n' })
  const guarded = await run([`${kind}.ndjson`, '--full'])
  expect(guarded.stderr).toContain(`\n--full would end 1 of 1 ${kind}, more than 5 %: which requires --yes. `)
  const empty = await run([`${kind}.ndjson`, '--full', '--yes'])
  expect([empty.code, empty.stdout]).toEqual([0, expect.stringMatching(new RegExp(`\n${kind} +0 +0 +0 +1 +0\n$`))])
  expect(await same()).toEqual(own)
})
