import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { noteFigure } from '../../../bench/noted-figure.ts'
import { migrate } from '../../../prisma/migrate.ts'
import { command, until } from '../../process/service.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'

const VALUES = 25
/** A text of 6.4 MB for each value: 160 MB, whose rows are larger than any buffer on their way. */
const FILL = `
  INSERT INTO "Organisation" (id, kind, name) VALUES ('club', 'club', 'Club'), ('provider', 'provider', 'Provider');
  INSERT INTO "Team" (id, name, level) VALUES ('team', 'Team', 'hobby');
  INSERT INTO "App" (id, name, "teamId", "providerId") VALUES ('app', 'App', 'team', 'provider');
  SELECT set_config('storage.put', 'on', false);
  INSERT INTO "StorageEntry" SELECT 'app', 'club', '', 'c', 'k' || i, NULL,
    '"' || (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 1000))
        || repeat(md5(i::text), 200000) || '"', gen_random_uuid(), now() FROM generate_series(1, ${VALUES}) i`

let url: string
let directory: string
beforeAll(async () => {
  const ends: (() => Promise<unknown>)[] = []
  url = await emptyDatabase((end) => ends.push(end))
  await migrate(url)
  await query(url, FILL)
  directory = await mkdtemp(join(tmpdir(), 'member-apps-backup-'))
  ends.push(() => rm(directory, { recursive: true, force: true }))
  return async () => {
    for (const end of ends) await end()
  }
}, 120_000)

const start = (name: 'backup' | 'restore', DATABASE_URL: string, ...args: string[]) =>
  command(name, args, { DATABASE_URL, SECRETS_KEY })

const hasTables = async (of: string) => (await query(of, `SELECT FROM pg_class WHERE relname = 'Person'`)).length > 0
const stored = (of: string) =>
  query(
    of,
    'SELECT key, version, md5(value), (SELECT sum(bytes) FROM "StorageUsage") AS used FROM "StorageEntry" ORDER BY 1',
  )

/** Waits until a restore has begun to write the values; its process in the server. */
async function copying(of: string): Promise<number> {
  const running = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY "StorageEntry"%'`
  return (
    await until(
      () => query(of, running),
      ({ length }) => length > 0,
    )
  )[0].pid
}

async function peakMb({ child }: ReturnType<typeof command>): Promise<number> {
  let peak = 0
  while (child.exitCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return peak
}

describe('a backup of 160 MB', { timeout: 300_000 }, () => {
  it('appears only when it is complete, although an earlier one was killed', async () => {
    const file = join(directory, 'killed')
    const killed = start('backup', url, file)
    await until(
      () =>
        stat(`${file}.incomplete`).then(
          ({ size }) => size,
          () => 0,
        ),
      (size) => size > 100_000,
    )
    killed.child.kill('SIGKILL')
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
    expect(await readdir(directory)).toEqual(['killed.incomplete'])
    expect(await start('backup', url, file).ended).toMatchObject({ code: 0, stderr: '' })
    expect(await readdir(directory)).toEqual(['killed'])
  })

  it('leaves no file when it loses the database', async () => {
    const file = join(directory, 'cut')
    const cut = start('backup', url, file)
    const copying = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'COPY "StorageEntry"%' AND state = 'active'`
    await until(
      () => query(url, copying),
      ({ length }) => length > 0,
    )
    expect(await cut.ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^.+\n$/) })
    expect((await readdir(directory)).filter((name) => name.startsWith('cut'))).toEqual([])
  })

  it('is written and restored in less than 200 MB of memory', async () => {
    const file = join(directory, 'whole')
    const taken = start('backup', url, file)
    const takenMb = await peakMb(taken)
    expect(await taken.ended).toMatchObject({ code: 0, stderr: '' })
    const other = await emptyDatabase()
    const restored = start('restore', other, file, '--nothing-to-repeat')
    const restoredMb = await peakMb(restored)
    expect(await restored.ended).toMatchObject({ code: 0, stderr: '' })
    expect(await stored(other)).toEqual(await stored(url))
    if (process.platform === 'linux') expect(Math.min(takenMb, restoredMb)).toBeGreaterThan(20)
    for (const [name, value] of Object.entries({ backup: takenMb, restore: restoredMb })) {
      noteFigure({ name, value, unit: 'MB', bound: 200 })
      expect.soft(value, name).toBeLessThan(200)
    }
  })

  it('changes nothing when its restore is killed or loses the database', async () => {
    const file = join(directory, 'source')
    await start('backup', url, file).ended
    const other = await emptyDatabase()
    const killed = start('restore', other, file, '--nothing-to-repeat')
    await copying(other)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(await hasTables(other)).toBe(false)

    expect(await start('restore', other, file, '--nothing-to-repeat').ended).toMatchObject({ code: 0 })
    await query(other, `UPDATE "StorageEntry" SET value = '1'`)
    const before = await stored(other)
    const cut = start('restore', other, file, '--nothing-to-repeat', '--yes')
    await query(other, `SELECT pg_terminate_backend(${await copying(other)})`)
    expect(await cut.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) })
    expect(await stored(other)).toEqual(before)
    expect(await start('restore', other, file, '--nothing-to-repeat', '--yes').ended).toMatchObject({ code: 0 })
    expect(await stored(other)).toEqual(await stored(url))
  })
})
