import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'
import { migrate } from '../../prisma/migrate.ts'
import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/scopes.ts'
import { times } from '../support/size.ts'
import { freshDatabase, query } from './external.ts'
import { asAnna, command, dataDirectory, start, until } from './service.ts'

const client = (args: string[], env: Record<string, string>) => command('client', args, env).ended
const done = (stdout: string) => ({ code: 0, signal: null, stdout, stderr: '' })
const refused = (stderr: string) => ({ code: 1, signal: null, stdout: '', stderr })

const scope = ['--scope', 'svc.me.profile:read svc.me.events:read']
const redirect = ['--redirect', 'https://planner.example.org/']
const planner = ['add', '--id', 'planner', '--name', 'Planner', ...redirect, ...scope]
const builders = [...planner, '--team', 'builders']
const newTeam = [...planner, '--team', 'planners', '--team-name', 'Planners', '--level', 'hobby']

describe('the client command', { timeout: 120_000 }, () => {
  it('adds a client to a team that exists, with the defaults', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    expect(await client(builders, env)).toEqual(done('The client planner is added.\n'))
    const { clients, ...rest } = await stored()
    expect(clients).toEqual([...before.clients, { ...row, id: 'planner' }].sort(byId))
    expect(rest).toEqual({ teams: before.teams, apps: before.apps })
  })

  it('makes the team and the app where these are new, and takes several redirects', async () => {
    const { env, stored } = await filled()
    const app = ['--app', 'plan-app', '--app-name', 'Plans', '--provider', 'provider']
    const phone = ['--type', 'native', '--environment', 'sandbox', '--redirect', 'http://127.0.0.1/back']
    expect(await client([...newTeam, ...app, ...phone], env)).toMatchObject({ code: 0, stderr: '' })
    const { clients, teams, apps } = await stored()
    expect(clients.find(({ id }) => id === 'planner')).toEqual({
      ...row,
      ...{ teamId: 'planners', appId: 'plan-app', type: 'native', environment: 'sandbox' },
      redirectUris: ['https://planner.example.org/', 'http://127.0.0.1/back'],
    })
    expect(teams).toContainEqual({ id: 'planners', name: 'Planners', level: 'hobby' })
    expect(apps).toContainEqual(
      expect.objectContaining({ id: 'plan-app', name: 'Plans', teamId: 'planners', providerId: 'provider' }),
    )
  })

  it('refuses an id that is there, and with --replace changes it, also twice', async () => {
    const { env, stored } = await filled()
    await client(newTeam, env)
    const before = await stored()
    const again = 'There is a client planner already; --replace changes it.\n'
    expect(await client(newTeam, env)).toEqual(refused(again))
    expect(await stored()).toEqual(before)

    const changed = [...newTeam, '--redirect', 'https://two.example.org/', '--replace']
    for (let n = 0; n < 2; n++) {
      expect(await client(changed, env)).toEqual(done('The client planner is replaced.\n'))
      const { clients, ...rest } = await stored()
      expect(clients.find(({ id }) => id === 'planner')!.redirectUris).toEqual([
        'https://planner.example.org/',
        'https://two.example.org/',
      ])
      expect(clients).toHaveLength(before.clients.length)
      expect(rest).toEqual({ teams: before.teams, apps: before.apps })
    }
  })

  it('adds a client of the platform, and leaves those of teams alone', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    const add = ['add', '--first-party', '--id', 'billing', '--name', 'Billing']
    expect(await client(add, env)).toEqual(done('The client billing is added.\n'))
    const { clients, ...rest } = await stored()
    const added = { ...row, id: 'billing', name: 'Billing', teamId: null, redirectUris: [], scopes: [] }
    expect(clients).toEqual([...before.clients, added].sort(byId))
    expect(rest).toEqual({ teams: before.teams, apps: before.apps })

    const after = await stored()
    expect(await client(add, env)).toEqual(refused('There is a client billing already; --replace changes it.\n'))
    expect(await client([...add, '--team', 'builders'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^--team is not for clients of the platform:/),
    })
    const ofTeam = ['add', '--first-party', '--id', 'no-app', '--name', 'Mine', '--replace']
    expect(await client(ofTeam, env)).toEqual(refused('The client no-app belongs to the team builders.\n'))
    const ofPlatform = [...newTeam, '--id', 'billing', '--replace']
    expect(await client(ofPlatform, env)).toEqual(refused('The client billing belongs to the platform.\n'))
    expect(await stored()).toEqual(after)
    expect(await client([...add, '--replace'], env)).toEqual(done('The client billing is replaced.\n'))
    expect(await stored()).toEqual(after)
  })

  it('says what cannot be registered, and changes nothing', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    const wrong: [string[], string][] = [
      [[...planner, '--team', 'ghosts'], 'There is no team ghosts: with --team-name and --level it is made.'],
      [
        [...builders, '--redirect', 'http://planner.example.org/', '--redirect', 'https://a.example/#x'],
        'http://planner.example.org/ cannot be a redirect: http:// is for 127.0.0.1 and [::1] alone.\n' +
          'https://a.example/#x cannot be a redirect: it has a fragment.',
      ],
    ]
    const check = async ([args, sentence]: [string[], string]) =>
      expect({ args, ...(await client(args, env)) }).toEqual({ args, ...refused(`${sentence}\n`) })
    await Promise.all(wrong.map(check))
    expect(await stored()).toEqual(before)
  })

  it('takes a redirect to localhost in development alone', async () => {
    const { env } = await filled()
    const local = [...builders, '--redirect', 'http://localhost:5173/']
    expect(await client(local, { ...env, NODE_ENV: 'production' })).toEqual(
      refused('http://localhost:5173/ cannot be a redirect: localhost is for development alone.\n'),
    )
    expect(await client(local, env)).toMatchObject({ code: 0 })
  })

  it('lists them in a table, all or of one team', async () => {
    const { env } = await filled()
    await client(newTeam, env)
    expect(await client(['list', '--team', 'planners'], env)).toEqual(
      done(`ID       APP  TEAM      LEVEL  TYPE  ENVIRONMENT  SCOPES               REDIRECTS
planner  -    planners  hobby  web   production   svc.me.profile:read  https://planner.example.org/
                                                  svc.me.events:read
`),
    )
    const { stdout } = await client(['list'], env)
    const ids = stdout.split('\n').map((line) => line.split(' ')[0])
    expect(ids.filter(Boolean)).toEqual([
      'ID',
      ...['example-app', 'no-app', 'trainer-app', 'trainer-app-sandbox'],
      ...['hobby-app', 'planner', 'platform'],
    ])
  })

  it('removes a client with --yes, and says what goes along', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    await query(
      env.DATABASE_URL,
      `INSERT INTO "Consent" VALUES ('g1', 'anna', 'riverside', 'trainer-app', '{}', now(), NULL),
         ('g2', 'ben', 'riverside', 'trainer-app', '{}', now(), now())`,
    )
    const remove = ['remove', '--id', 'trainer-app']
    const sentence = 'Nothing was removed: without a terminal nobody can be asked, so --yes is needed.\n'
    expect(await client(remove, env)).toEqual(refused(sentence))
    expect(await stored()).toEqual(before)
    expect(await client([...remove, '--yes'], env)).toEqual(
      done(`To be removed: the client trainer-app, and 1 consent.
Its tokens are refused within 5 s. The app trainer-app and what it has stored stay.
Removed: trainer-app, 1 consent
`),
    )
    const { clients, ...rest } = await stored()
    expect(clients).toEqual(before.clients.filter(({ id }) => id !== 'trainer-app'))
    expect(rest).toEqual({ teams: before.teams, apps: before.apps })
    expect(await query(env.DATABASE_URL, 'SELECT FROM "Consent"')).toEqual([])
    expect(await client([...remove, '--yes'], env)).toEqual(refused('There is no client trainer-app.\n'))
  })

  it('says what is wrong with its arguments, before it looks for a database', async () => {
    const wrong: [string[], string][] = [
      [[], 'What to do is one word, add, list or remove:'],
      [['toString'], 'What to do is one word, add, list or remove:'],
      [['list', 'add'], 'What to do is one word, add, list or remove:'],
      [['add', '--id', 'x', '--name', 'x', '--team', 'x', ...scope], '--id, --name, --team, --redirect and --scope'],
      [[...builders, '--provider', 'provider'], '--app-name and --provider are of an app, which --app names:'],
      [[...builders, '--level', 'pro'], '--level is hobby or developer:'],
      [[...builders, '--type', 'spa'], '--type is web or native:'],
      [[...builders, '--environment', 'test'], '--environment is production or sandbox:'],
      [[...builders, '--yes'], '--yes is not for add:'],
      [['list', '--id', 'x'], '--id is not for list:'],
      [['list', '--team', ''], '--team is empty:'],
      [['remove', '--yes'], '--id is needed:'],
      [['remove', '--id', 'x', '--all'], "Unknown option '--all'"],
    ]
    const check = async ([args, sentence]: [string[], string]) => {
      const ended = await client(args, { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' })
      expect({ args, ...ended }).toEqual({ args, ...refused(expect.stringContaining(sentence)) })
    }
    await Promise.all(wrong.slice(-times(wrong.length, 4)).map(check))
  })

  it('works beside a running service, which refuses the tokens of a removed client within 5 s', async () => {
    const env = { DATA_DIR: await dataDirectory() }
    const service = await start(env)
    expect((await asAnna(service, 'GET', '/me/profile')).status).toBe(200)
    expect(await client(['remove', '--id', 'trainer-app', '--yes'], env)).toMatchObject({ code: 0, stderr: '' })
    const refusal = async () => (await asAnna(service, 'GET', '/me/profile')).status
    await until(refusal, (status) => status === 401, 6_000)
    await service.stop()
  })
})

const row = {
  ...{ id: 'planner', name: 'Planner', teamId: 'builders', appId: null, environment: 'production', type: 'web' },
  redirectUris: ['https://planner.example.org/'],
  scopes: ['svc.me.profile:read', 'svc.me.events:read'],
}
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)

interface Stored {
  clients: (Omit<typeof row, 'appId'> & { appId: string | null })[]
  teams: { id: string }[]
  apps: { id: string }[]
}

/** A database with the demo data, and what of it registrations may change. */
async function filled() {
  const env = { DATABASE_URL: await freshDatabase() }
  await migrate(env.DATABASE_URL)
  const db = openDatabase(env.DATABASE_URL, () => {})
  await seed(db, new Date(), memberScopesAt).finally(() => db.$disconnect())
  const all = (table: string) => query(env.DATABASE_URL, `SELECT * FROM "${table}" ORDER BY id`)
  const stored = async (): Promise<Stored> => ({
    clients: await all('Client'),
    teams: await all('Team'),
    apps: await all('App'),
  })
  return { env, stored }
}
