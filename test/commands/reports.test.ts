import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ask } from '../support/ask.ts'
import { migratedDatabase } from '../support/databases.ts'
import { readContent } from './database-content.ts'
import { filledDatabase } from './filled-database.ts'
import { ndjson, person } from './import-world.ts'
import { run } from './run.ts'
import { addEntries } from './stored-entries.ts'

/** The commands that report to the nodes what they have changed. */
const commands = {
  import: ['import', 'people.ndjson', '--skip-refused', 'refused.json'],
  'member erase': ['member', 'erase', '--member', 'ben', '--yes', '--log', 'removals'],
  'storage erase': ['storage', 'erase', '--app', 'trainer-app', '--club', 'riverside', '--yes'],
}
type Name = keyof typeof commands
const names = Object.keys(commands) as Name[]

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'member-apps-reports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(toPath('people.ndjson'), ndjson(person('zoe')))
})
const toPath = (name: string) => join(folder, name)
const files = ['people.ndjson', 'refused.json', 'removals']
const toArguments = (name: Name) => commands[name].map((word) => (files.includes(word) ? toPath(word) : word))

describe('a setting for reports that is wrong', () => {
  const filled = filledDatabase()

  it.each(
    names.flatMap((name) => [
      { name, REDIS_URL: 'http://redis' },
      { name, NODES: '2' },
    ]),
  )('stops a command before it changes anything: %o', async ({ name, ...settings }) => {
    const url = filled.DATABASE_URL
    await addEntries(url)
    const before = await readContent(url)
    await writeFile(toPath('refused.json'), 'of yesterday')
    const { code, stdout, stderr } = await run(toArguments(name), { ...filled, ...settings })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^These settings cannot be used .*\n {2}REDIS_URL: .*\n$/)
    expect(await readContent(url)).toEqual(before)
    expect(await readFile(toPath('refused.json'), 'utf8')).toBe('of yesterday')
  })
})

describe('a report that cannot be sent', () => {
  /** With the demo data, whose NOTIFY fails. */
  async function silentDatabase() {
    const url = await migratedDatabase()
    expect((await run(['seed'], { DATABASE_URL: url })).code).toBe(0)
    await addEntries(url)
    await ask(
      url,
      `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''silent''; END';
        ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`,
    )
    return url
  }
  const stored = async (url: string) => {
    const [row] = await ask(
      url,
      `SELECT EXISTS (SELECT FROM "Person" WHERE id = 'zoe') AS zoe, EXISTS (SELECT FROM "Person" WHERE id = 'ben') AS ben,
        EXISTS (SELECT FROM "StorageEntry" WHERE "appId" = 'trainer-app' AND "clubId" = 'riverside') AS entries`,
    )
    return row
  }
  const before = { zoe: false, ben: true, entries: true }

  it.each<[Name, object, RegExp]>([
    ['import', { zoe: true }, /\npeople +1 +0 +0 +0 +0\n$/],
    ['member erase', { ben: false }, /\nRemoved:\n/],
    ['storage erase', { entries: false }, /\nRemoved: /],
  ])('does not fail %s, which is done', async (name, changed, printed) => {
    const url = await silentDatabase()
    expect(await stored(url)).toEqual(before)
    const { code, stdout, stderr } = await run(toArguments(name), { DATABASE_URL: url })
    expect([code, stdout, await stored(url)]).toEqual([0, expect.stringMatching(printed), { ...before, ...changed }])
    if (name !== 'member erase') return
    expect(JSON.parse(stderr)).toMatchObject({ repeat: 'member.erase', person: 'ben' })
    expect(await readFile(toPath('removals'), 'utf8')).toBe(stderr)
  })
})
