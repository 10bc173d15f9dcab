import { expect, it, onTestFinished } from 'vitest'
import { DueWatch } from '../../routers/kernel/due-watch.ts'
import { openPostgresWakes } from '../../server/process/postgres-wakes.ts'
import { direct } from '../support/addresses.ts'
import { ask } from '../support/ask.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { clubs, importWorld, ndjson, person } from './import-world.ts'
import { run } from './run.ts'

/** Counts the reports that arrive in another process. */
async function countReports(url: string) {
  const db = openTestDatabase(url)
  const due = new DueWatch()
  const wakes = openPostgresWakes(db, direct(url), { due })
  onTestFinished(async () => {
    await wakes.close()
    await db.$disconnect()
  })
  await expect.poll(() => due.isNotified).toBe(true)
  let reports = 0
  due.onDue = () => void reports++
  return () => reports
}

it('import and member erase report once that something may be due, a dry run does not', async () => {
  const world = await importWorld()
  const { DATABASE_URL: url } = world.env
  const reports = await countReports(url)
  await world.write({ 'organisations.ndjson': clubs, 'people.ndjson': ndjson(person('anna')) })
  const files = ['organisations.ndjson', 'people.ndjson']
  expect((await world.run(['--dry-run', ...files])).code).toBe(0)
  expect((await world.run(files)).code).toBe(0)
  await expect.poll(reports).toBe(1)
  expect((await run(['member', 'erase', '--member', 'anna', '--yes'], world.env)).code).toBe(0)
  await expect.poll(reports).toBe(2)
  expect(await ask(url, 'SELECT id FROM "Person"')).toEqual([])
})
