import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { endAfterAll } from '../support/after-all.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import type { Ended } from './service.ts'
import {
  annaIn,
  asAnna,
  command,
  dataDirectoryWithCluster,
  externalSettings,
  issueToken,
  readLog,
  send,
  start,
} from './service.ts'

/** The arguments of a command among the printed steps. */
const wordsAfter = (name: string, printed: string) =>
  new RegExp(`npx member-apps ${name} (.*)`)
    .exec(printed)![1]!
    .match(/"[^"]*"|\S+/g)!
    .map((word) => word.replaceAll('"', ''))

const HEAD = 'The database is empty. What to do next:'
const WARNING = 'SECRETS_KEY is not set'

describe('an external database', () => {
  const atEnd = endAfterAll()
  let env: Awaited<ReturnType<typeof externalSettings>>
  let atStart: string
  let first: Ended
  beforeAll(async () => {
    env = await externalSettings(emptyDatabase, atEnd)
    const service = await start(env, { atEnd })
    expect((await send(service.internalPort, 'GET', '/readyz')).status).toBe(200)
    atStart = service.stdout()
    first = await service.stop()
    expect(first).toMatchObject({ code: 0, stderr: '' })
  })

  it('is migrated at the start and not seeded', async () => {
    expect(first.stdout).toContain('data    the database of DATABASE_URL\n')
    expect(first.stdout).not.toContain('curl')
    expect(await query(env.DATABASE_URL, 'SELECT * FROM "Organisation"')).toEqual([])
    expect(await readdir(env.DATA_DIR)).not.toContain('postgres')
  })

  it('is migrated by the seed command as well, which loads the demo data, once', async () => {
    const env = await externalSettings(emptyDatabase)
    for (let times = 0; times < 2; times++) {
      const loaded = { code: 0, signal: null, stdout: 'The demo data is loaded.\n', stderr: '' }
      expect(await command('seed', [], env).ended).toEqual(loaded)
      expect(await query(env.DATABASE_URL, 'SELECT count(*)::int AS people FROM "Person"')).toEqual([{ people: 5 }])
      expect(await query(env.DATABASE_URL, 'SELECT id FROM "Client" ORDER BY id')).toHaveLength(7)
    }
    const service = await start(env)
    expect(service.stdout()).toMatch(/^curl /m)
    expect((await asAnna(service, 'GET', '/me/profile')).body.id).toBe('anna')
    await service.stop()
  })

  it('without SECRETS_KEY logs a warning, as the key is in DATA_DIR', async () => {
    expect(first.stdout).toContain(WARNING)
    expect(await readdir(env.DATA_DIR)).toContain('secrets-key')
  })

  it('while it is empty has the first steps printed, of which the command registers a client', async () => {
    const [, printed] = atStart.split(`\n${HEAD}\n`)
    expect(printed!.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        /^1\. Load the platform's data: npx member-apps import .*, or a demo club: npx member-apps seed$/,
      ),
      expect.stringMatching(/^2\. Register a client: npx member-apps client add /),
      expect.stringMatching(/^3\. Sign in a member: first set SMTP_URL .* npx member-apps token --member MEMBER /),
    ])
    const added = await command('client', wordsAfter('client', printed!), env).ended
    expect(added).toMatchObject({ code: 0, stdout: 'The client first-app was added.\n' })
    expect(await query(env.DATABASE_URL, `SELECT id, "teamId" FROM "Client" WHERE "teamId" IS NOT NULL`)).toEqual([
      { id: 'first-app', teamId: 'first-team' },
    ])
    expect(await command('token', wordsAfter('token', printed!), env).ended).toMatchObject({ code: 0, stderr: '' })

    await query(env.DATABASE_URL, `INSERT INTO "Organisation" (id, kind, name) VALUES ('o', 'club', 'O')`)
    const SECRETS_KEY = await readFile(join(env.DATA_DIR, 'secrets-key'), 'utf8')
    const { stdout } = await (await start({ ...env, SECRETS_KEY })).stop()
    expect(stdout).not.toContain(HEAD)
    expect(stdout).not.toContain(WARNING)
  })

  it('in production prints no token, and refuses those of the development key', async () => {
    const env = { ...(await externalSettings()), NODE_ENV: 'production' }
    await command('seed', ['--yes'], env).ended
    const { NODE_ENV: _, ...development } = env
    const token = await issueToken(development, ...annaIn('riverside'))
    const service = await start(env)
    const refused = await asAnna(service, 'GET', '/me/profile', undefined, token)
    expect([refused.status, refused.body.error.message]).toEqual([401, 'This token is not valid.'])
    const { stdout } = await service.stop()
    expect(stdout).not.toMatch(/development key|curl|Bearer|eyJ/)

    const believing = await start({ ...env, DEVELOPMENT_TOKENS: 'true' })
    expect((await asAnna(believing, 'GET', '/me/profile', undefined, token)).status).toBe(200)
    const warnings = readLog((await believing.stop()).stdout).flatMap(({ level, msg }) => (level === 40 ? [msg] : []))
    expect(warnings.join()).toContain('tokens of the development key in DATA_DIR are accepted')
  })
})

it('the first steps are there in production with the embedded database too, which then has no demo data', async () => {
  const env = { DATA_DIR: await dataDirectoryWithCluster(), NODE_ENV: 'production' }
  const service = await start(env)
  expect(service.stdout()).toContain(HEAD)
  expect(service.stdout()).not.toContain('seed')
  expect((await command('client', ['list'], env).ended).stdout).not.toContain('trainer-app')
  await service.stop()
})
