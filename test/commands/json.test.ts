import { describe, expect, it } from 'vitest'
import { newKey } from '../process/secrets-tenant.ts'
import { query } from '../support/databases.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run } from './run.ts'

describe('a command with --json', () => {
  const env = filledDatabase()
  /** The document of a command that succeeds, saying nothing else. */
  const printed = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await run([...args, '--json'], { ...env, ...more })
    expect([code, stderr]).toEqual([0, ''])
    return JSON.parse(stdout)
  }

  it('prints names that are as they are stored, with characters that act on a terminal escaped', async () => {
    await query(env.DATABASE_URL, `UPDATE "Team" SET name = E'B\\u202eGmbH\\u009b2K "x"' WHERE id = 'builders'`)
    const teams = await printed(['team', 'list'])
    expect(teams[0]).toEqual({
      id: 'builders',
      name: 'B\u202eGmbH\u009b2K "x"',
      level: 'developer',
      people: 2,
      apps: 5,
      clients: 5,
      owners: ['anna'],
    })
    for (const more of [[], ['--json']]) {
      expect((await run(['team', 'list', ...more], env)).stdout).toContain('B\\u202eGmbH\\u009b2K ')
    }
  })

  it('prints null for what has no value, and times as ISO 8601', async () => {
    const clients = await printed(['client', 'list'])
    expect(clients).toContainEqual(expect.objectContaining({ app: null, team: null, level: null }))
    const invite = ['team', 'invite', '--team', 'builders', '--email', 'jo@example.org']
    const { expiresAt } = await printed(invite)
    expect(new Date(expiresAt).toISOString()).toBe(expiresAt)
  })

  it('prints what is pending with what members read, and what became of it', async () => {
    expect(await printed(['client', 'requests'])).toEqual([])
    await query(
      env.DATABASE_URL,
      `UPDATE "Client" SET wanted = '{"redirectUris": ["https://other.example/"]}', version = 3 WHERE id = 'trainer-app'`,
    )
    await query(
      env.DATABASE_URL,
      `UPDATE "App" SET wanted = '{"name": "Coach", "logo": null}' WHERE id = 'trainer-app'`,
    )
    expect(await printed(['client', 'requests'])).toEqual([
      {
        id: 'trainer-app',
        kind: 'client',
        name: 'trainer-app',
        team: 'builders',
        version: 3,
        isNew: false,
        asked: { redirectUris: ['https://other.example/'] },
        app: {
          id: 'trainer-app',
          version: 0,
          name: 'Trainer',
          description: null,
          homepage: 'https://trainer.example.org/',
          logo: expect.stringMatching(/^http:\/\/auth\.localhost:3000\/v1\/oauth\/icons\/trainer-app\/\w+/),
        },
      },
      {
        id: 'trainer-app',
        kind: 'app',
        name: 'Trainer',
        team: 'builders',
        version: 0,
        isNew: false,
        asked: { name: 'Coach', logo: null },
        app: null,
      },
    ])
    const approve = ['client', 'approve', '--id', 'trainer-app', '--version', '3', '--app-version', '0']
    expect(await printed(approve)).toEqual({ id: 'trainer-app', kind: 'client', isNew: false })
    const refuse = ['client', 'refuse', '--app', 'trainer-app', '--reason', 'No']
    expect(await printed(refuse)).toEqual({ id: 'trainer-app', kind: 'app', isNew: false })
    expect(await printed(['client', 'requests'])).toEqual([])
  })

  it('prints the keys that are left after one is revoked, and its line for the list to standard error', async () => {
    const SECRETS_KEY = newKey()
    const [{ id }] = await printed(['keys', 'rotate', '--now'], { SECRETS_KEY })
    const { code, stdout, stderr } = await run(['keys', 'revoke', '--json', '--', id], { ...env, SECRETS_KEY })
    expect([code, JSON.parse(stderr)]).toMatchObject([0, { repeat: 'key.revoke', key: id }])
    expect(JSON.parse(stdout)).toEqual([
      {
        id: expect.not.stringMatching(id),
        algorithm: 'ES256',
        use: 'tokens',
        signsFrom: expect.any(String),
        state: 'signs',
      },
    ])
  })

  it('asks on standard error', async () => {
    const remove = ['client', 'remove', '--id', 'trainer-app', '--json']
    const refused = await run(remove, env, { typed: 'no\n' })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^To be removed: [\s\S]*\nType trainer-app to continue: Nothing was removed\.\n$/)
    const { code, stdout } = await run(remove, env, { typed: 'trainer-app\n' })
    expect([code, JSON.parse(stdout)]).toEqual([0, { id: 'trainer-app', consents: expect.any(Number) }])
  })

  it('prints its document and exits 1 when the result is a bad one', async () => {
    await run(['keys', 'rotate'], { ...env, SECRETS_KEY: newKey() })
    const { code, stdout, stderr } = await run(['secrets', 'check', '--json'], { ...env, SECRETS_KEY: newKey() })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^No key of SECRETS_KEY decrypts \d+ values?\.\n$/)])
    const { columns } = JSON.parse(stdout)
    expect(columns).toContainEqual({ name: 'SigningKey.ciphertext', first: 0, other: 0, none: expect.any(Number) })
  })

  it('says what failed as without it, with nothing on standard output', async () => {
    const ghosts = ['team', 'level', '--team', 'ghosts', '--level', 'hobby', '--json']
    expect(await run(ghosts, env)).toEqual(failed('Team ghosts does not exist.\n'))
    expect(await run(['team', 'level', '--json'], env)).toEqual(misused('--team and --level are required.'))
    const owner = ['team', 'add', '--id', 'sailors', '--name', 'S', '--level', 'hobby', '--owner', 'nobody', '--json']
    // The team exists by then.
    expect(await run(owner, env)).toEqual(
      failed(expect.stringMatching(/^The team sailors was added\.\nemail must be /)),
    )
  })
})
