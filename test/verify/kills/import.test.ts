import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { command, commandEntry, dataDirectory } from '../../process/service.ts'
import { migratedDatabase, query } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import { alone } from '../import-process.ts'
import { scaleSizes, writePlatformFiles } from '../platform-files.ts'

/** The tables of each kind of the files, in the order of the import. */
const recordTypes = Object.entries({
  organisations: ['Organisation'],
  people: ['Person'],
  memberships: ['Membership'],
  groups: ['Group'],
  groupMembers: ['GroupMembership'],
  calendars: ['Calendar'],
  events: ['Event', 'EventGroup'],
  disciplines: ['Discipline'],
  competitions: ['Competition', 'Participation'],
  results: ['CompetitionResult'],
})

const atEnd = endingAfterAll()
let directory: string
beforeAll(async () => {
  directory = await dataDirectory(atEnd)
})

/** What the database keeps of an event beside the record: it counts the changes. */
const OWN = `'{sequence,modifiedAt,cancelledAt}'::text[]`

/** A hash of the rows of each kind, in the order of the kinds. */
async function contents(url: string): Promise<string[]> {
  const hashes = recordTypes.map(([, tables]) => {
    const rows = tables.map(
      (table) => `SELECT '${table}' || (to_jsonb(row) - ${OWN})::text AS text FROM "${table}" row`,
    )
    return `(SELECT md5(string_agg(text, ',' ORDER BY text)) FROM (${rows.join(' UNION ALL ')}) kind)`
  })
  const [row] = await query(url, `SELECT ARRAY[${hashes.join(', ')}] AS hashes`)
  return row.hashes.map(String)
}

const importing = (files: string, url: string) => command('import', [files], { DATABASE_URL: url })

describe('kill -9 of an import', () => {
  it('at any moment leaves each kind as before or as after', async () => {
    const editions = await Promise.all(
      ['a', 'b'].map(async (edition) => {
        const files = join(directory, edition)
        await writePlatformFiles(files, scaleSizes(100), edition)
        const url = await migratedDatabase()
        const start = performance.now()
        expect(await importing(files, url).ended).toMatchObject({ code: 0 })
        return { files, ms: performance.now() - start, complete: await contents(url) }
      }),
    )
    const url = await migratedDatabase()
    const rounds = times(8, 4)
    let before = await contents(url)
    let between = 0
    for (let round = 0; round < rounds; round++) {
      const { files, ms, complete } = editions[round % 2]!
      const { child, ended } = importing(files, url)
      await pause((ms * (round + 0.5)) / rounds)
      child.kill('SIGKILL')
      const { signal, code } = await ended
      await alone(url)
      const after = await contents(url)
      for (const [i, [recordType]] of recordTypes.entries()) {
        expect([before[i], complete[i]], `round ${round}: ${recordType}`).toContain(after[i])
      }
      // A record type that differs is written after those before it.
      const written = recordTypes.flatMap((_, i) => (before[i] === complete[i] ? [] : after[i] === complete[i]))
      expect(written, `round ${round}`).toEqual(written.toSorted((a, b) => Number(b) - Number(a)))
      if (signal === null) expect([code, after]).toEqual([0, complete])
      else if (written.includes(true) && written.includes(false)) between += 1
      before = after
    }
    expect(between).toBeGreaterThan(0)

    const { files, complete } = editions[0]!
    expect(await importing(files, url).ended).toMatchObject({ code: 0 })
    expect(await contents(url)).toEqual(complete)
  })
})

describe('Ctrl-C of an import', () => {
  it('ends it within seconds, and says what was written', async () => {
    const files = join(directory, 'large')
    await writePlatformFiles(files, scaleSizes(20))
    const url = await migratedDatabase()
    const { child, ended, stderr } = importing(files, url)
    await expect.poll(() => stderr()).toContain('\ngroups: 500 rows')
    const start = performance.now()
    child.kill('SIGINT')
    const { code, stdout, stderr: said } = await ended
    expect(performance.now() - start).toBeLessThan(9_000)
    expect(code).toBe(1)
    const [, recordType] = /\nInterrupted. No (\w+) were written.\nNot begun: .*, results.\n$/.exec(said)!
    expect(stdout).toMatch(new RegExp(`\\npeople +5000 .*\\n${recordType} +0 +0 +0 +0 +0\\n$`, 's'))
    await alone(url)
    const [{ count }] = await query(url, `SELECT count(*)::int FROM "${new Map(recordTypes).get(recordType!)![0]}"`)
    expect(count).toBe(0)
  })

  it('ends it while it waits for standard input', async () => {
    const DATABASE_URL = await migratedDatabase()
    const child = spawn(process.execPath, [commandEntry, 'import', '--kind', 'people'], {
      env: { PATH: process.env.PATH, DATABASE_URL },
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdin.write('{"id":"anna","firstName":"Anna","lastName":"Berger","email":""}\n')
    const reading = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
      AND query LIKE 'CREATE TEMP TABLE%'`
    await expect.poll(() => query(DATABASE_URL, reading)).not.toEqual([])
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.kill('SIGINT')
    const [code] = await once(child, 'close')
    expect([code, said]).toEqual([1, expect.stringContaining('Interrupted. No people were written.\n')])
    expect(await query(DATABASE_URL, 'SELECT FROM "Person"')).toEqual([])
  })
})
