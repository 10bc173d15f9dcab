import { describe, expect, it } from 'vitest'
import { logoVersion } from '../../routers/developer/apps/logo.ts'
import { ask } from '../support/ask.ts'
import { query } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'

describe('the team command', () => {
  const env = filledDatabase()
  const team = (...args: string[]) => run(['team', ...args], env)
  const stored = () =>
    ask(
      env.DATABASE_URL,
      `SELECT "Team".id, level, email, "TeamInvitation".role FROM "Team" LEFT JOIN "TeamInvitation" ON "teamId" = "Team".id
        ORDER BY 1, 3`,
    )
  const audit = () => ask(env.DATABASE_URL, 'SELECT action, "personId", "teamId", after FROM "AuditEntry" ORDER BY id')
  const planners = ['--id', 'planners', '--name', 'Planners', '--level', 'hobby']

  it('adds a team and invites its first owner', async () => {
    const { code, stdout } = await team('add', ...planners, '--owner', 'Jo@Example.org')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^The team planners was added\.\njo@example\.org is invited to the team planners as owner until /,
    )
    expect(stdout).toContain('No e-mail was sent')
    expect(stdout).toContain('at http://auth.localhost:3000/v1/oauth/developers and accept\n')
    expect(await stored()).toContainEqual({ id: 'planners', level: 'hobby', email: 'jo@example.org', role: 'owner' })
    expect(await audit()).toEqual([
      { action: 'team.create', personId: null, teamId: 'planners', after: { name: 'Planners', level: 'hobby' } },
      { action: 'invitation.create', personId: null, teamId: 'planners', after: { role: 'owner' } },
    ])
  })

  it('says that an invitation is mailed where SMTP_URL is set', async () => {
    const mail = { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'apps@example.org' }
    const { stdout } = await run(['team', 'invite', '--team', 'builders', '--email', 'kim@example.org'], {
      ...env,
      ...mail,
    })
    expect(stdout).toContain('An e-mail is on its way')
  })

  it('changes the level of a team, and lists the teams', async () => {
    expect(await team('level', '--team', 'hobbyists', '--level', 'developer')).toEqual(
      succeeded('The team hobbyists now has the level developer.\n'),
    )
    const { stdout } = await team('list')
    expect(stdout).toMatch(/^builders +Builders GmbH +developer +2 +5 +5 +anna$/m)
    expect(stdout).toMatch(/^hobbyists +Feierabend Apps +developer +1 +1 +1 +ben$/m)
  })

  it('refuses what cannot be, and changes nothing', async () => {
    const before = [await stored(), await audit()]
    const wrong: [string[], object][] = [
      [['add', ...planners, '--id', 'builders'], failed('The team builders already exists.\n')],
      [
        ['add', ...planners, '--name', 'a\u202e'],
        failed('The name of the team has U+202E, which cannot be seen or acts on the text around it.\n'),
      ],
      [
        ['add', ...planners, '--level', 'gold'],
        misused("Option '--level <LEVEL>' argument 'gold' is invalid. Allowed choices are hobby, developer."),
      ],
      [['add', '--id', 'planners'], misused('--id, --name and --level are required.')],
      [['invite', '--team', 'ghosts', '--email', 'jo@example.org'], failed('Team ghosts does not exist.\n')],
      [
        ['invite', '--team', 'builders', '--email', 'jo'],
        failed('email must be an e-mail address, such as name@example.org.\n'),
      ],
      [['level', '--team', 'ghosts', '--level', 'hobby'], failed('Team ghosts does not exist.\n')],
    ]
    for (const [args, answer] of wrong) expect(await team(...args)).toEqual(answer)
    expect([await stored(), await audit()]).toEqual(before)
  })
})

describe('client requests', () => {
  const logo = new Uint8Array([1, 2, 3])
  const icons = 'http://auth.localhost:3000/v1/oauth/icons/trainer-app'
  const env = filledDatabase()
  const client = (...args: string[]) => run(['client', ...args], env)
  const readRow = async (id: string) => (await ask(env.DATABASE_URL, `SELECT * FROM "Client" WHERE id = '${id}'`))[0]!
  const appNow = async () =>
    (await ask(env.DATABASE_URL, `SELECT name, logo, wanted, "wantedLogo" FROM "App" WHERE id = 'trainer-app'`))[0]!
  const versions = (client: number, app: number) => ['--version', String(client), '--app-version', String(app)]
  const last = async () =>
    (await ask(env.DATABASE_URL, 'SELECT action, after FROM "AuditEntry" ORDER BY id DESC LIMIT 1'))[0]!

  /** A client that waits, changes of one that is used, and another name of an app. */
  const request = async () => {
    const db = openTestDatabase(env.DATABASE_URL)
    const of = { name: 'New', teamId: 'builders', appId: 'trainer-app', environment: 'production' as const }
    const rest = { redirectUris: ['https://new.example/'], scopes: ['svc.me.profile:read'] }
    const waiting = {
      state: 'requested' as const,
      requestedAt: new Date(),
      purpose: { 'svc.me.profile:read': 'Greets' },
    }
    await db.client.create({ data: { id: 'c_new', ...of, ...rest, ...waiting } })
    const wanted = { redirectUris: ['https://other.example/'] }
    await db.client.update({ where: { id: 'trainer-app' }, data: { wanted, version: 3 } })
    const changes = { wanted: { name: 'Coach', logo: logoVersion(logo) }, wantedLogo: logo }
    await db.app.update({ where: { id: 'trainer-app' }, data: changes })
    await db.$disconnect()
  }

  it('are listed, each with the command that approves it', async () => {
    expect(await client('requests')).toEqual(succeeded('Nothing is pending approval.\n'))
    const former = (await appNow()).logo as Buffer
    await request()
    const { stdout } = await client('requests')
    expect(stdout).toContain(
      'New client c_new of the team builders\n  name: New\n  redirectUris: https://new.example/\n',
    )
    const read = `  app: trainer-app, version 0
  app name: Trainer
  app description: -
  app homepage: https://trainer.example.org/
  app logo: ${icons}/${logoVersion(former)}
`
    const command = 'member-apps client approve --id c_new --version 0 --app-version 0'
    expect(stdout).toContain(`  svc.me.profile:read: Greets\n${read}  ${command}\n`)
    expect(stdout).toContain(`${read}  member-apps client approve --id trainer-app --version 3 --app-version 0\n`)
    expect(stdout).toContain('Changes to the client trainer-app of the team builders\n  redirectUris: https://other.')
    const changes = `Changes to the app trainer-app of the team builders\n  name: Coach\n  logo: ${icons}/${logoVersion(logo)}\n`
    expect(stdout).toContain(changes)
    expect(stdout).toContain('member-apps client approve --app trainer-app --version 0\n')
  })

  it('are listed with control characters escaped, as older releases took them', async () => {
    await request()
    await query(
      env.DATABASE_URL,
      `UPDATE "Client" SET name = 'Ne\u202ew', purpose = '{"svc.me.profile:read": "Gre\\u001b[2Kets"}' WHERE id = 'c_new'`,
    )
    const { stdout } = await client('requests')
    expect(stdout).toContain('  name: Ne\\u202ew\n')
    expect(stdout).toContain('  svc.me.profile:read: Gre\\u001b[2Kets\n')
  })

  it('are put in force when they are approved', async () => {
    await request()
    expect(await client('approve', '--id', 'c_new', ...versions(0, 0))).toEqual(
      succeeded('Approved: the new client c_new\n'),
    )
    expect(await readRow('c_new')).toMatchObject({ state: 'active', requestedAt: null, version: 1 })
    expect(await last()).toMatchObject({ action: 'client.approve', after: { name: 'New' } })
    expect(await client('approve', '--id', 'trainer-app', ...versions(3, 0))).toEqual(
      succeeded('Approved: the changes to the client trainer-app\n'),
    )
    expect(await readRow('trainer-app')).toMatchObject({ redirectUris: ['https://other.example/'], wanted: null })
    expect(await client('approve', '--app', 'trainer-app', '--version', '0')).toMatchObject({ code: 0 })
    expect(await appNow()).toEqual({ name: 'Coach', logo: Buffer.from(logo), wanted: null, wantedLogo: null })
  })

  it('are not refused with a reason that acts on a terminal', async () => {
    await request()
    for (const reason of ['no\u001b[2K', 'x'.repeat(1_001)]) {
      expect(await client('refuse', '--id', 'c_new', '--reason', reason)).toEqual(
        misused('--reason must be 1 to 1000 characters, without control characters.'),
      )
    }
    expect(await readRow('c_new')).toMatchObject({ state: 'requested' })
  })

  it('stay with the reason when they are refused, and are no longer listed', async () => {
    const { name, logo: former } = await appNow()
    await request()
    expect(await client('refuse', '--id', 'c_new', '--reason', 'Who are you?')).toEqual(
      succeeded('Refused: the new client c_new\n'),
    )
    const why = { at: expect.any(Number), reason: 'Who are you?' }
    expect(await readRow('c_new')).toMatchObject({
      state: 'requested',
      requestedAt: null,
      refusal: { ...why, asked: {} },
    })
    expect((await client('requests')).stdout).not.toContain('c_new')
    expect(await client('approve', '--id', 'c_new', ...versions(1, 0))).toEqual(
      failed('The client c_new has nothing pending approval.\n'),
    )
    expect(await last()).toMatchObject({ action: 'client.refuse', after: { name: 'New', reason: 'Who are you?' } })
    const { redirectUris } = await readRow('trainer-app')
    await client('refuse', '--id', 'trainer-app', '--reason', 'No')
    const asked = { redirectUris: ['https://other.example/'] }
    expect(await readRow('trainer-app')).toMatchObject({ redirectUris, wanted: null, refusal: { reason: 'No', asked } })
    await client('refuse', '--app', 'trainer-app', '--reason', 'It is the logo of a bank.')
    expect(await appNow()).toEqual({ name, logo: former, wanted: null, wantedLogo: null })
    expect((await last()).after).toMatchObject({ logo: logoVersion(logo), reason: 'It is the logo of a bank.' })
  })

  it('are not decided on when they are other ones than were read', async () => {
    await request()
    const before = await readRow('trainer-app')
    expect(await client('approve', '--id', 'trainer-app', ...versions(2, 0))).toEqual(
      failed('The client trainer-app has changed and now has version 3. Read it again.\n'),
    )
    expect(await client('approve', '--id', 'hobby-app', ...versions(0, 0))).toEqual(
      failed('The client hobby-app has nothing pending approval.\n'),
    )
    await query(env.DATABASE_URL, `UPDATE "App" SET name = 'Bank', version = 1 WHERE id = 'trainer-app'`)
    expect(await client('approve', '--id', 'trainer-app', ...versions(3, 0))).toEqual(
      failed('The app trainer-app has changed and now has version 1. Read it again.\n'),
    )
    expect(await client('approve', '--app', 'trainer-app', '--version', '0')).toEqual(
      failed('The app trainer-app has changed and now has version 1. Read it again.\n'),
    )
    expect(await client('approve', '--id', 'trainer-app', '--version', '3')).toEqual(
      failed('The client trainer-app has the app trainer-app: --app-version is required as well.\n'),
    )
    expect(await client('approve', '--app', 'trainer-app')).toEqual(misused('--version is required.'))
    expect(await client('approve', '--app', 'trainer-app', '--version', '0', '--app-version', '0')).toEqual(
      misused('--app-version requires --id.'),
    )
    expect(await client('approve', '--version', '0')).toEqual(misused('--id or --app is required.'))
    expect(await client('refuse', '--id', 'trainer-app')).toEqual(misused('--reason is required.'))
    expect(await readRow('trainer-app')).toEqual(before)
  })
})

describe('the requests for teams', () => {
  const env = filledDatabase()
  const team = (...args: string[]) => run(['team', ...args], env)
  const read = (sql: string) => ask(env.DATABASE_URL, sql)
  const stored = () => read(`SELECT id, state, version, reason FROM "TeamRequest" ORDER BY id`)
  const add = (id: string, person: string) =>
    query(
      env.DATABASE_URL,
      `INSERT INTO "TeamRequest" (id, "personId", name, purpose, state, "requestedAt")
        VALUES ('${id}', '${person}', 'Sailors', E'Results\nof regattas.', 'requested', now())`,
    )

  it('are listed with the line that approves exactly that', async () => {
    expect(await team('requests')).toEqual(succeeded('Nobody is waiting for a team.\n'))
    await add('t_one', 'anna')
    const [listed] = JSON.parse((await team('requests', '--json')).stdout)
    expect(listed).toEqual({
      id: 't_one',
      version: 1,
      name: 'Sailors',
      purpose: 'Results\nof regattas.',
      requestedAt: expect.stringMatching(/Z$/),
      person: { id: 'anna', name: 'Anna Berger', email: 'anna.berger@example.org' },
    })
    const { stdout } = await team('requests')
    expect(stdout).toContain(
      'New team Sailors of Anna Berger (anna.berger@example.org)\n  purpose: Results of regattas.\n  member-apps team approve --id t_one --version 1\n',
    )
  })

  it('are approved, and refused with a reason', async () => {
    await add('t_one', 'anna')
    await add('t_two', 'ben')
    expect(await team('approve', '--id', 't_one', '--version', '1')).toEqual(
      succeeded('Approved: the team t_one was added.\n'),
    )
    expect((await team('list')).stdout).toMatch(/^t_one +Sailors +hobby +1 +0 +0 +anna$/m)
    expect(await team('refuse', '--id', 't_two', '--reason', 'For which clubs?')).toEqual(
      succeeded('Refused: the request for the team t_two\n'),
    )
    expect(await stored()).toEqual([{ id: 't_two', state: 'refused', version: 2, reason: 'For which clubs?' }])
  })

  it('are not decided on twice, in another version, or without a reason', async () => {
    await add('t_three', 'anna')
    await add('t_two', 'ben')
    await team('refuse', '--id', 't_two', '--reason', 'No.')
    const before = [await stored(), await read('SELECT id FROM "Team" ORDER BY id')]
    const wrong: [string[], object][] = [
      [['approve', '--id', 't_one', '--version', '1'], failed('The request for a team t_one is not pending.\n')],
      [['approve', '--id', 't_two', '--version', '2'], failed('The request for a team t_two is not pending.\n')],
      [['refuse', '--id', 't_two', '--reason', 'No.'], failed('The request for a team t_two is not pending.\n')],
      [
        ['approve', '--id', 't_three', '--version', '7'],
        failed('The request for a team t_three has changed and now has version 1. Read it again.\n'),
      ],
    ]
    for (const [args, expected] of wrong) expect(await team(...args)).toEqual(expected)
    for (const args of [
      ['approve', '--id', 't_three', '--version', 'one'],
      ['refuse', '--id', 't_three', '--reason', ''],
      ['approve', '--id', 't_three'],
    ]) {
      expect((await team(...args)).code).toBe(2)
    }
    expect([await stored(), await read('SELECT id FROM "Team" ORDER BY id')]).toEqual(before)
  })
})
