import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hashOfSecret } from '../../routers/developer/secrets/client-secret.ts'
import { declaredProgram } from '../../server/commands/program/completion.ts'
import { actionsIn } from '../../server/commands/program/completion-words.ts'
import { ask } from '../support/ask.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'

const client = (args: string[], env: Record<string, string>) => run(['client', ...args], env)

const scope = ['--scope', 'svc.me.profile:read svc.me.events:read']
const redirect = ['--redirect', 'https://planner.example.org/']
const planner = ['add', '--id', 'planner', '--name', 'Planner', ...redirect, ...scope]
const builders = [...planner, '--team', 'builders']
const newApp = ['--app', 'plan-app', '--app-name', 'Plans']
const firstParty = ['add', '--first-party', '--id', 'billing', '--name', 'Billing']
const newTeam = [...planner, '--team', 'planners', '--team-name', 'Planners', '--level', 'hobby']

describe('the client command', () => {
  const env = filledDatabase()
  const stored = () => registered(env.DATABASE_URL)

  it('adds a client to an existing team, with the defaults', async () => {
    const before = await stored()
    expect(await client(builders, env)).toEqual(succeeded('The client planner was added.\n'))
    const { clients, ...rest } = await stored()
    expect(clients).toEqual([...before.clients, { ...row, id: 'planner' }].sort(byId))
    expect(rest).toEqual({ teams: before.teams, apps: before.apps })
  })

  it('adds the team and the app too when they are new, and accepts several redirects', async () => {
    const app = [...newApp, '--provider', 'provider']
    const phone = ['--type', 'native', '--environment', 'sandbox', '--redirect', 'http://127.0.0.1/back']
    expect(await client([...newTeam, ...app, ...phone], env)).toMatchObject({ code: 0, stderr: '' })
    const { clients, teams, apps } = await stored()
    expect(clients.find(({ id }) => id === 'planner')).toEqual({
      ...row,
      teamId: 'planners',
      appId: 'plan-app',
      type: 'native',
      environment: 'sandbox',
      redirectUris: ['https://planner.example.org/', 'http://127.0.0.1/back'],
    })
    expect(teams).toContainEqual({ id: 'planners', name: 'Planners', level: 'hobby', endsAt: null })
    expect(apps).toContainEqual(
      expect.objectContaining({ id: 'plan-app', name: 'Plans', teamId: 'planners', providerId: 'provider' }),
    )
    const audit = `SELECT action, target, after FROM "AuditEntry" WHERE "teamId" = 'planners' ORDER BY id LIMIT 2`
    expect(await ask(env.DATABASE_URL, audit)).toEqual([
      { action: 'team.create', target: 'planners', after: { name: 'Planners', level: 'hobby' } },
      { action: 'app.create', target: 'plan-app', after: { name: 'Plans', provider: 'provider' } },
    ])
  })

  it('refuses an existing id, and changes it with --replace, also twice', async () => {
    await client(newTeam, env)
    const before = await stored()
    const again = 'The client planner already exists; --replace changes it.\n'
    expect(await client(newTeam, env)).toEqual(failed(again))
    expect(await stored()).toEqual(before)

    const changed = [...newTeam, '--redirect', 'https://two.example.org/', '--replace']
    for (let n = 0; n < 2; n++) {
      expect(await client(changed, env)).toEqual(succeeded('The client planner was replaced.\n'))
      const { clients, ...rest } = await stored()
      expect(clients.find(({ id }) => id === 'planner')!.redirectUris).toEqual([
        'https://planner.example.org/',
        'https://two.example.org/',
      ])
      expect(clients).toHaveLength(before.clients.length)
      expect(rest).toEqual({ teams: before.teams, apps: before.apps })
    }
  })

  it('adds a first-party client, and does not change the clients of teams', async () => {
    const before = await stored()
    const add = [...firstParty, '--scope', 'ntf.events:write lms.reviews:write']
    const { code, stdout } = await client(add, env)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^The client billing was added\.\n/)])
    const { clients, ...rest } = await stored()
    const own = {
      id: 'billing',
      name: 'Billing',
      teamId: null,
      redirectUris: [],
      scopes: ['ntf.events:write', 'lms.reviews:write'],
    }
    const added = { ...row, ...own, secretHash: hashOfSecret(secretIn(stdout)) }
    expect(clients).toEqual([...before.clients, added].sort(byId))
    expect(rest).toEqual({ teams: before.teams, apps: before.apps })

    const after = await stored()
    expect(await client(add, env)).toEqual(failed('The client billing already exists; --replace changes it.\n'))
    const ofAdd = actionsIn(await declaredProgram()).find(({ place }) => place === 'client add')!
    const ofBoth = ['--id', '--name', '--scope', '--first-party', '--jwks', '--replace', '--log', '--json']
    for (const { long, flags, required, argChoices } of ofAdd.options.filter(({ long }) => !ofBoth.includes(long!))) {
      expect(await client([...add, long!, ...(required ? [argChoices?.[0] ?? 'x'] : [])], env)).toEqual(
        misused(`Option '--first-party' cannot be used with option '${flags}'`),
      )
    }
    const ofTeam = [...add, '--id', 'no-app', '--replace']
    expect(await client(ofTeam, env)).toEqual(failed('The client no-app belongs to the team builders.\n'))
    const ofPlatform = [...newTeam, '--id', 'billing', '--replace']
    expect(await client(ofPlatform, env)).toEqual(failed('The client billing belongs to the platform.\n'))
    expect(await stored()).toEqual(after)
  })

  it('gives a first-party client another secret or keys with --replace, and stores no secret', async () => {
    const add = [...firstParty, '--scope', 'lms.reviews:write']
    const first = secretIn((await client(add, env)).stdout)
    const second = secretIn((await client([...add, '--replace'], env)).stdout)
    expect(second).not.toBe(first)
    const billing = async () => (await stored()).clients.find(({ id }) => id === 'billing')
    expect(await billing()).toMatchObject({ secretHash: hashOfSecret(second), scopes: ['lms.reviews:write'] })
    expect(JSON.stringify(await stored())).not.toContain(second)

    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicKey.export({ format: 'jwk' })
    for (const text of [
      publicKey.export({ format: 'pem', type: 'spki' }).toString(),
      JSON.stringify(jwk),
      JSON.stringify({ keys: [jwk] }),
    ]) {
      const jwks = ['--jwks', await file(text), '--replace']
      const { stdout } = await client([...add, ...jwks], env)
      expect(stdout).toContain('It signs its assertions for http://auth.localhost:3000/v1/oauth/token')
      expect(stdout).not.toContain('secret')
      expect(await billing()).toMatchObject({ secretHash: null, jwks: { keys: [jwk] } })
    }
    const before = await stored()
    const refused = async (text: string) => client([...add, '--replace', '--jwks', await file(text)], env)
    const isPrivate = 'This is a private key: the service needs only the public one.\n'
    expect(await refused(JSON.stringify(privateKey.export({ format: 'jwk' })))).toEqual(failed(isPrivate))
    expect(await refused(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())).toEqual(failed(isPrivate))
    expect(await refused('{"kty":"oct","k":"c2VjcmV0"}')).toEqual(failed(isPrivate))
    expect(await refused('{"keys":[]}')).toEqual(failed('There is no key.\n'))
    expect(await refused('{"keys":[null]}')).toEqual(failed('A key cannot be read.\n'))
    expect(await refused('{')).toEqual(failed('The keys are neither JSON nor PEM.\n'))
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
    expect(await refused(JSON.stringify(weak))).toMatchObject({ code: 1 })
    expect(await stored()).toEqual(before)
  })

  it('gives a first-party client no secret when another issuer gives it tokens', async () => {
    const add = [...firstParty, '--scope', 'lms.reviews:write']
    const elsewhere = { ...env, TOKEN_ISSUER: 'https://id.example.org' }
    expect(await client(add, elsewhere)).toEqual(succeeded('The client billing was added.\n'))
    const { clients } = await stored()
    expect(clients.find(({ id }) => id === 'billing')).toMatchObject({ secretHash: null, jwks: null })
    expect(await client([...add, '--replace', '--jwks', 'keys.json'], elsewhere)).toEqual(
      failed("TOKEN_ISSUER is set: https://id.example.org issues the tokens and has the client's keys.\n"),
    )
  })

  it('refuses a first-party client without scopes, and one of members', async () => {
    const before = await stored()
    const needed = misused('--id, --name and --scope are required.')
    expect(await client(firstParty, env)).toEqual(needed)
    expect(await client([...firstParty, '--scope', ' '], env)).toEqual(needed)
    expect(await client([...firstParty, '--scope', ''], env)).toEqual(
      misused(`Option '--scope <"a b">' argument '' is invalid. It is empty.`),
    )
    expect(await client([...firstParty, '--scope', 'svc.me.profile:read'], env)).toEqual(
      failed('svc.me.profile:read is not a first-party scope.\n'),
    )
    expect(await stored()).toEqual(before)
  })

  it('names the faults of a registration and changes nothing', async () => {
    const before = await stored()
    const existing = 'The team builders already exists, with the name "Builders GmbH" and level developer.'
    const existingApp = 'The app trainer-app already exists, with the name "Trainer" and the provider provider.'
    const wrong: [string[], string][] = [
      [[...planner, '--team', 'ghosts'], 'Team ghosts does not exist; --team-name and --level create it.'],
      [
        [...builders, '--redirect', 'http://planner.example.org/', '--redirect', 'https://a.example/#x'],
        'http://planner.example.org/ cannot be a redirect URI: http:// is for 127.0.0.1, [::1] and localhost only.\n' +
          'https://a.example/#x cannot be a redirect URI: it has a fragment.',
      ],
      [
        [...planner, '--team', 'new', '--team-name', 'New'],
        'Team new does not exist; --team-name and --level create it.',
      ],
      [[...newTeam, '--id', 'no-app', '--replace'], 'The client no-app belongs to the team builders.'],
      [[...builders, '--team-name', 'Others'], existing],
      [[...builders, '--level', 'hobby'], existing],
      [
        [...newTeam, ...scope, '--scope', 'lms.me.quizzes:write svc.me.profile:read'],
        'lms.me.quizzes:write is only for teams with the Developer level.',
      ],
      [[...builders, '--app', 'ghost'], 'App ghost does not exist; --app-name and --provider create it.'],
      [[...builders, ...newApp, '--provider', 'riverside'], 'Provider riverside does not exist.'],
      [[...builders, '--app', 'hobby-app'], 'The app hobby-app belongs to the team hobbyists.'],
      [[...builders, '--app', 'trainer-app', '--app-name', 'Coach'], existingApp],
      [[...builders, '--app', 'trainer-app', '--provider', 'other-provider'], existingApp],
    ]
    for (const [args, sentence] of wrong) {
      expect({ args, ...(await client(args, env)) }).toEqual({ args, ...failed(`${sentence}\n`) })
    }
    expect(await stored()).toEqual(before)
  })

  it('accepts localhost for a native client, as 127.0.0.1 and [::1]', async () => {
    const native = [...builders, '--type', 'native', '--replace']
    for (const uri of ['http://localhost/cb', 'http://localhost:8400/', 'http://127.0.0.1/cb', 'http://[::1]/cb']) {
      const added = [...native, '--redirect', uri]
      expect(await client(added, { ...env, NODE_ENV: 'production' })).toMatchObject({ code: 0, stderr: '' })
    }
    for (const uri of ['http://a.localhost/cb', 'https://localhost/cb', 'http://localhost.example/cb']) {
      expect((await client([...native, '--redirect', uri], env)).code).toBe(1)
    }
  })

  const production = () => ({ ...env, NODE_ENV: 'production' })
  const readPlanner = async () => (await stored()).clients.find(({ id }) => id === 'planner')!

  it('accepts localhost for a sandbox client in production, also after a sign-out', async () => {
    const sandbox = [...builders, '--environment', 'sandbox', '--redirect', 'http://localhost:5173/']
    const logout = [
      '--post-logout-redirect',
      'http://localhost:5173/bye',
      '--post-logout-redirect',
      'https://planner.example.org/',
    ]
    expect(await client([...sandbox, ...logout], production())).toMatchObject({ code: 0, stderr: '' })
    expect((await readPlanner()).postLogoutRedirectUris).toEqual([
      'http://localhost:5173/bye',
      'https://planner.example.org/',
    ])
    // It keeps those that still fit.
    expect(await client([...builders, '--replace'], production())).toMatchObject({ code: 0 })
    expect((await readPlanner()).postLogoutRedirectUris).toEqual(['https://planner.example.org/'])
    const before = await stored()
    for (const uri of ['http://localhost:5173/bye', 'https://other.example/', 'javascript:alert(1)']) {
      const wrong = [...builders, '--replace', '--post-logout-redirect', uri]
      expect((await client(wrong, production())).code).toBe(1)
    }
    expect(await stored()).toEqual(before)
  })

  it('signs ID tokens of new clients with openid by RS256, unless they choose ES256', async () => {
    const openid = ['--scope', 'openid svc.me.profile:read']
    const algorithmAfter = async (args: string[]) => {
      expect(await client(args, env)).toMatchObject({ code: 0, stderr: '' })
      return (await readPlanner()).idTokenAlgorithm
    }
    expect(await algorithmAfter(builders)).toBe('ES256')
    const replacing = [
      ...planner.filter((one) => one !== '--scope' && !one.includes('svc.')),
      '--team',
      'builders',
      ...openid,
      '--replace',
    ]
    expect(await algorithmAfter(replacing)).toBe('RS256')
    expect(await algorithmAfter([...replacing, '--id-token-algorithm', 'ES256'])).toBe('ES256')
    expect(await algorithmAfter(replacing)).toBe('ES256')
    expect(await client([...replacing, '--id-token-algorithm', 'HS256'], env)).toMatchObject({ code: 2 })
  })

  it('accepts a redirect to localhost in development, or for a sandbox client', async () => {
    const local = [...builders, '--redirect', 'http://localhost:5173/']
    expect(await client(local, { ...env, NODE_ENV: 'production' })).toEqual(
      failed(
        'http://localhost:5173/ cannot be a redirect URI: localhost is for development and sandbox clients only.\n',
      ),
    )
    expect(await client(local, env)).toMatchObject({ code: 0 })
  })

  it('lists the clients in a table, all or those of one team', async () => {
    await client(newTeam, env)
    expect(await client(['list', '--team', 'planners'], env)).toEqual(
      succeeded(`ID       APP  TEAM      LEVEL  TYPE  ENVIRONMENT  SCOPES               REDIRECTS
planner  -    planners  hobby  web   production   svc.me.profile:read  https://planner.example.org/
                                                  svc.me.events:read
`),
    )
    const { stdout } = await client(['list'], env)
    const ids = stdout.split('\n').map((line) => line.split(' ')[0])
    expect(ids.filter(Boolean)).toEqual([
      'ID',
      ...['example-app', 'no-app', 'reference', 'trainer-app', 'trainer-app-sandbox'],
      ...['hobby-app', 'planner', 'platform'],
    ])
  })

  it('removes a client with --yes, and says what is removed with it', async () => {
    const before = await stored()
    await ask(
      env.DATABASE_URL,
      `INSERT INTO "Consent" VALUES ('g1', 'anna', 'riverside', 'trainer-app', '{}', now(), NULL),
         ('g2', 'ben', 'riverside', 'trainer-app', '{}', now(), now())`,
    )
    const remove = ['remove', '--id', 'trainer-app']
    const sentence = 'Nothing was removed: without a terminal for the confirmation, --yes is required.\n'
    expect(await client(remove, env)).toEqual(failed(sentence))
    expect(await stored()).toEqual(before)
    expect(await client([...remove, '--yes'], env)).toEqual({
      ...succeeded(`To be removed: the client trainer-app, and 1 consent.
Its tokens are refused within 5 s. The app trainer-app and its stored entries stay.
Removed: trainer-app, 1 consent
`),
      stderr: expect.stringContaining('"repeat":"client.remove","client":"trainer-app"'),
    })
    const { clients, ...rest } = await stored()
    expect(clients).toEqual(before.clients.filter(({ id }) => id !== 'trainer-app'))
    expect(rest).toEqual({ teams: before.teams, apps: before.apps })
    expect(await ask(env.DATABASE_URL, 'SELECT FROM "Consent"')).toEqual([])
    expect(await client([...remove, '--yes'], env)).toEqual(failed('Client trainer-app does not exist.\n'))
  })

  it('asks on a terminal for the id of the client that it removes', async () => {
    const before = await stored()
    const remove = ['client', 'remove', '--id', 'trainer-app']
    const refused = await run(remove, env, { typed: 'trainer\n' })
    expect(refused).toMatchObject({ code: 1, stderr: 'Nothing was removed.\n' })
    expect(refused.stdout).toMatch(/\nType trainer-app to continue: $/)
    expect(await stored()).toEqual(before)
    expect(await run(remove, env, { typed: 'trainer-app\n' })).toMatchObject({ code: 0 })
    expect((await stored()).clients.map(({ id }) => id)).not.toContain('trainer-app')
  })
})

describe('wrong arguments of the client command', () => {
  it.each<[string[], string]>([
    [[], ''],
    [['toString'], "Unknown command 'toString'"],
    [['list', 'add'], "Too many arguments for 'list'."],
    [['add', '--id', 'x', '--name', 'x', '--team', 'x', ...scope], '--id, --name, --team, --redirect and --scope'],
    [[...builders, '--provider', 'provider'], '--app-name and --provider describe an app: --app is required.'],
    [
      [...builders, '--level', 'pro'],
      "Option '--level <LEVEL>' argument 'pro' is invalid. Allowed choices are hobby, developer.",
    ],
    [
      [...builders, '--type', 'spa'],
      "Option '--type <TYPE>' argument 'spa' is invalid. Allowed choices are web, native.",
    ],
    [
      [...builders, '--environment', 'test'],
      "Option '--environment <ENVIRONMENT>' argument 'test' is invalid. Allowed choices are production, sandbox.",
    ],
    [[...builders, '--jwks', 'x'], '--jwks is an option of first-party clients.'],
    [[...builders, '--yes'], "Unknown option '--yes'"],
    [['list', '--id', 'x'], "Unknown option '--id'"],
    [['list', '--team', ''], "Option '--team <TEAM>' argument '' is invalid. It is empty."],
    [['remove', '--yes'], '--id is required.'],
    [['remove', '--id', 'x', '--all'], "Unknown option '--all'"],
  ])('exit 2 before it looks for a database when they are %j', async (args, message) => {
    expect(await client(args, { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' })).toEqual(misused(message))
  })
})

const row = {
  id: 'planner',
  name: 'Planner',
  teamId: 'builders',
  appId: null,
  environment: 'production',
  type: 'web',
  redirectUris: ['https://planner.example.org/'],
  postLogoutRedirectUris: [],
  idTokenAlgorithm: 'ES256',
  devices: false,
  scopes: ['svc.me.profile:read', 'svc.me.events:read'],
  secretHash: null,
  authentication: 'none',
  jwks: null,
  state: 'active',
  testOnly: false,
  purpose: null,
  requestedAt: null,
  refusal: null,
  wanted: null,
  version: 0,
}

/** The secret in the printed line. */
const secretIn = (stdout: string) => /curl -u 'billing:([\w-]{43})'/.exec(stdout)![1]!

async function file(text: string) {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-keys-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'keys'), text)
  return join(directory, 'keys')
}
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)

type Nullable = 'appId' | 'secretHash' | 'jwks'

interface Stored {
  clients: (Omit<typeof row, Nullable> & Record<Nullable, unknown>)[]
  teams: { id: string }[]
  apps: { id: string }[]
}

/** The tables that registrations may change. */
async function registered(url: string): Promise<Stored> {
  const all = (table: string) => ask(url, `SELECT * FROM "${table}" ORDER BY id`)
  return { clients: await all('Client'), teams: await all('Team'), apps: await all('App') }
}
