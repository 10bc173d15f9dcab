import { describe, expect, it } from 'vitest'
import { emptyDatabase, query } from '../support/databases.ts'
import { command, dataDirectory, start } from './service.ts'

const head = 'The database is empty. What to do next:'

describe('the first steps', () => {
  it('are printed while the database is empty; the printed command registers a client', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase() }
    const first = await start(env)
    const [, printed] = first.stdout().split(`\n${head}\n`)
    expect(printed!.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        /^1\. Load the platform's data: npx member-apps import .*, or a demo club: npx member-apps seed$/,
      ),
      expect.stringMatching(/^2\. Register a client: npx member-apps client add /),
      expect.stringMatching(/^3\. Sign in a member: first set SMTP_URL .* npx member-apps token --member MEMBER /),
    ])
    await first.stop()

    const [, line] = /npx member-apps client (.*)/.exec(printed!)!
    const words = line!.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''))
    expect(await command('client', words, env).ended).toMatchObject({
      code: 0,
      stdout: 'The client first-app was added.\n',
    })
    expect(await query(env.DATABASE_URL, `SELECT id, "teamId" FROM "Client" WHERE "teamId" IS NOT NULL`)).toEqual([
      { id: 'first-app', teamId: 'first-team' },
    ])
    const [, tokenLine] = /npx member-apps token (.*)/.exec(printed!)!
    expect(await command('token', tokenLine!.split(' '), env).ended).toMatchObject({ code: 0, stderr: '' })

    await query(env.DATABASE_URL, `INSERT INTO "Organisation" (id, kind, name) VALUES ('o', 'club', 'O')`)
    const second = await start(env)
    expect(second.stdout()).not.toContain(head)
    await second.stop()
  })

  it('are there in production with the embedded database too, which then has no demo data', async () => {
    const env = { DATA_DIR: await dataDirectory(), NODE_ENV: 'production' }
    const service = await start(env)
    expect(service.stdout()).toContain(head)
    expect(service.stdout()).not.toContain('seed')
    expect((await command('client', ['list'], env).ended).stdout).not.toContain('trainer-app')
    await service.stop()
  })
})
