import { expect, it } from 'vitest'
import { migratedDatabase, query } from '../support/databases.ts'
import { addForeignRows } from '../support/foreign-rows.ts'

it('rows of others, with which plans are looked at, fit the checks of each table', async () => {
  const url = await migratedDatabase()
  await addForeignRows(url, 2)
  expect(await query(url, 'SELECT count(*)::int4 FROM "CalendarFeed"')).toEqual([{ count: 2 }])
})
