import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withOwnConnection } from '../../server/commands/line/database.ts'
import { runCommand } from '../../server/commands/program/run-command.ts'
import { ask } from '../support/ask.ts'
import { migratedDatabase } from '../support/databases.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { pgClient } from '../support/pg-client.ts'
import { clubs, ndjson, person } from './import-world.ts'

/** An import of files through a proxy: by default of people, from a standard input that stays open. */
async function importing(args = ['--kind', 'people'], url?: string) {
  url ??= await migratedDatabase()
  const proxy = await FaultProxy.to(url)
  onTestFinished(() => proxy.close())
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough().setEncoding('utf8')]
  const [said, printed] = [[] as string[], [] as string[]]
  stderr.on('data', (text) => said.push(text))
  stdout.on('data', (text) => printed.push(String(text)))
  const io = { stdin, stdout, stderr, env: { DATABASE_URL: proxy.url } }
  const ended = runCommand(['import', ...args], io)
  const running = (state: string) =>
    ask(url, `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${state}`)
  return {
    proxy,
    stdin,
    ended,
    said: () => said.join(''),
    printed: () => printed.join(''),
    ask: (sql: string) => ask(url, sql),
    isRunning: (state: string) => expect.poll(async () => (await running(state)).length).toBeGreaterThan(0),
    isOver: () => expect.poll(async () => (await running('true')).length).toBe(0),
  }
}

describe('an import whose connection breaks', () => {
  it('has written nothing while it reads', async () => {
    const { proxy, stdin, ended, said, ask, isRunning, isOver } = await importing()
    stdin.write(ndjson(person('anna')))
    await isRunning(`state = 'idle in transaction' AND query LIKE 'CREATE TEMP TABLE%'`)
    proxy.breakConnections()
    stdin.end(ndjson(person('ben')))
    expect(await ended).toBe(1)
    expect(said()).toMatch(/ No people were written.\n$/)
    await isOver()
    expect(await ask('SELECT id FROM "Person"')).toEqual([])
  })

  it('does not know while it commits, and says so', async () => {
    const { proxy, stdin, ended, said, ask, isRunning, isOver } = await importing()
    await ask(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON "Person" DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION slow()`)
    stdin.end(ndjson(person('anna')))
    await isRunning(`query = 'COMMIT' AND state = 'active'`)
    proxy.breakConnections()
    expect(await ended).toBe(1)
    expect(said()).toMatch(/ Whether people were written is unknown: run the import again.\n$/)
    await isOver()
    expect(await ask('SELECT id FROM "Person"')).toEqual([{ id: 'anna' }])
  })

  it('reports what it has written before, also while the database stays away', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'member-apps-import-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'organisations.ndjson'), clubs)
    await writeFile(join(folder, 'people.ndjson'), ndjson(person('anna')))
    const url = await migratedDatabase()
    const other = pgClient(url)
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN; LOCK TABLE "Person" IN EXCLUSIVE MODE')

    const { proxy, ended, said, printed, ask, isRunning } = await importing([folder], url)
    await isRunning(`wait_event_type = 'Lock'`)
    await proxy.begin('refuse')
    expect(await ended).toBe(1)
    expect(printed()).toMatch(/\norganisations +2 +0 +0 +0 +0\npeople +0 +0 +0 +0 +0\n$/)
    expect(said()).toMatch(/ No people were written.\n$/)
    expect(await ask('SELECT id FROM "Organisation" ORDER BY 1')).toEqual([{ id: 'northgate' }, { id: 'riverside' }])
  })

  it('has written nothing when the server refuses to commit', async () => {
    const { stdin, ended, said, ask } = await importing()
    await ask(`CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''never''; END';
      CREATE CONSTRAINT TRIGGER never AFTER INSERT ON "Person" DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION never()`)
    stdin.end(ndjson(person('anna')))
    expect(await ended).toBe(1)
    expect(said()).toMatch(/\nnever. No people were written.\n$/)
    expect(await ask('SELECT id FROM "Person"')).toEqual([])
  })
})

it('an import that has ended sends no cancellation, whatever signal comes then', async () => {
  const env = { DATABASE_URL: await migratedDatabase() }
  const controller = new AbortController()
  await withOwnConnection({ env }, async () => {}, controller.signal)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  controller.abort()
  expect(vi.getTimerCount()).toBe(0)
})
