import { expect, it } from 'vitest'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { run } from './run.ts'

it.each([
  ['migrate', 'DATABASE_URL', '?schema=clubs', 'schema'],
  ['migrate', 'DATABASE_DIRECT_URL', '?options=-c%20search_path%3Dclubs', 'options'],
  ['seed', 'DATABASE_URL', '?sslmode=disable&connection_limit=1', 'connection_limit'],
  ['client list', 'DATABASE_DIRECT_URL', '?connect_timeout=5&schema=clubs', 'schema'],
])('%s with %s%s exits 1, names the parameter %s, and creates no table', async (command, setting, search, name) => {
  const url = direct(await emptyDatabase())
  const result = await run(command.split(' '), { DATABASE_URL: url, [setting]: `${url}${search}` })
  expect(result).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(
      `\n  ${setting}: "${url.replace(/\/\/.*@/, '//***@')}?***" is not possible with the parameter ${name}: `,
    ),
  })
  expect(
    await query(url, `SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`),
  ).toEqual([])
})

it('migrate takes an address whose parameters change nothing', async () => {
  const url = direct(await emptyDatabase())
  const DATABASE_URL = `${url}?schema=public&sslmode=disable&connect_timeout=15`
  expect(await run(['migrate'], { DATABASE_URL })).toMatchObject({ code: 0, stderr: '' })
  expect(await query(url, `SELECT count(*) > 50 AS whole FROM pg_tables WHERE schemaname = 'public'`)).toEqual([
    { whole: true },
  ])
})
