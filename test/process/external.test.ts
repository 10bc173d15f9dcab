import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emptyDatabase, query } from '../support/databases.ts'
import { asAnna, command, dataDirectory, send, start } from './service.ts'

describe('an external database', () => {
  it('is migrated at the start and not seeded, and the seed command loads the demo data', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase() }
    const first = await start(env)
    expect(first.stdout()).toContain('data    the database of DATABASE_URL\n')
    expect(first.stdout()).not.toContain('curl')
    expect((await send(first.internalPort, 'GET', '/readyz')).status).toBe(200)
    expect(await query(env.DATABASE_URL, 'SELECT * FROM "Organisation"')).toEqual([])
    expect(await readdir(env.DATA_DIR)).not.toContain('postgres')
    expect(await first.stop()).toMatchObject({ code: 0, stderr: '' })

    for (let times = 0; times < 2; times++) {
      expect(await command('seed', [], env).ended).toEqual({
        code: 0,
        signal: null,
        stdout: 'The demo data is loaded.\n',
        stderr: '',
      })
      expect(await query(env.DATABASE_URL, 'SELECT count(*)::int AS people FROM "Person"')).toEqual([{ people: 5 }])
    }
    const second = await start(env)
    expect(second.stdout()).toMatch(/^curl /m)
    expect((await asAnna(second, 'GET', '/me/profile')).body.id).toBe('anna')
    await second.stop()
  })

  it('is migrated by the seed command as well', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase() }
    expect(await command('seed', [], env).ended).toMatchObject({ code: 0, stderr: '' })
    expect(await query(env.DATABASE_URL, 'SELECT id FROM "Client" ORDER BY id')).toHaveLength(7)
  })

  it('without SECRETS_KEY logs a warning, as the key is in DATA_DIR', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase() }
    const warning = 'SECRETS_KEY is not set'
    const without = await start(env)
    expect((await without.stop()).stdout).toContain(warning)
    expect(await readdir(env.DATA_DIR)).toContain('secrets-key')
    const SECRETS_KEY = await readFile(join(env.DATA_DIR, 'secrets-key'), 'utf8')
    const withKey = await start({ ...env, SECRETS_KEY })
    expect((await withKey.stop()).stdout).not.toContain(warning)
  })

  it('in production prints no token, and refuses those of the development key', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase(), NODE_ENV: 'production' }
    await command('seed', ['--yes'], env).ended
    const { NODE_ENV: _, ...development } = env
    const args = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app']
    const token = (await command('token', args, development).ended).stdout.trimEnd()
    const service = await start(env)
    const refused = await asAnna(service, 'GET', '/me/profile', undefined, token)
    expect([refused.status, refused.body.error.message]).toEqual([401, 'This token is not valid.'])
    const { stdout } = await service.stop()
    expect(stdout).not.toMatch(/development key|curl|Bearer|eyJ/)

    const believing = await start({ ...env, DEVELOPMENT_TOKENS: 'true' })
    expect((await asAnna(believing, 'GET', '/me/profile', undefined, token)).status).toBe(200)
    const warnings = (await believing.stop()).stdout
      .split('\n')
      .filter((line) => line.startsWith('{') && JSON.parse(line).level === 40)
    expect(warnings.join()).toContain('tokens of the development key in DATA_DIR are accepted')
  })
})
