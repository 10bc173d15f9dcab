import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startMailServer } from '../oauth/mail-server.ts'
import { emptyDatabase, migratedDatabase } from '../support/databases.ts'
import { command, dataDirectory, run, send, start } from './service.ts'

const worker = fileURLToPath(new URL('../../dist/server/worker.js', import.meta.url))
const SECRETS_KEY = randomBytes(32).toString('base64')

/** Prints and warns as packages do, on a signal. */
const LOUD = `--import=data:text/javascript,${encodeURIComponent(`
  process.on('SIGUSR2', () => {
    console.log('printed', { by: 'a package' })
    console.info('noted')
    console.warn('warned')
    console.error('failed')
    process.emitWarning('deprecated', 'DeprecationWarning')
  })
`)}`

// biome-ignore lint/suspicious/noExplicitAny: any JSON
const parsed = (stdout: string): any[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('standard output in production', () => {
  it('of the service is lines of JSON: addresses, warnings, first steps, requests, what packages print', async () => {
    const directory = await dataDirectory()
    await writeFile(join(directory, '.env'), 'SECRET_KEY=canary\n')
    const env = {
      DATA_DIR: directory,
      DATABASE_URL: await emptyDatabase(),
      NODE_ENV: 'production',
      NODE_OPTIONS: LOUD,
      TRUSTED_PROXY: 'canary',
    }
    const service = await start(env, { cwd: directory })
    const { port, internalPort } = service
    await send(port, 'GET', '/v1/me/profile', { headers: { host: 'apps.localhost' } })
    await send(port, 'GET', '/v1/oauth/authorize', { headers: { host: 'auth.localhost' } })
    service.child.kill('SIGUSR2')
    await expect.poll(() => service.stdout()).toContain('deprecated')
    const { code, stdout, stderr } = await service.stop()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toContain('canary')

    const lines = parsed(stdout)
    for (const line of lines) expect(line).toMatchObject({ level: expect.any(Number), time: expect.any(String) })
    const listens = lines.filter(({ msg }) => msg === 'the service listens')
    expect(listens).toEqual([
      expect.objectContaining({
        apps: `http://apps.localhost:${port}/v1`,
        lms: `http://lms.localhost:${port}/v1`,
        notify: `http://notify.localhost:${port}/v1`,
        sync: `http://sync.localhost:${port}/v1`,
        tRPC: `http://localhost:${internalPort}/trpc`,
        ports: `${port} (public) on every interface, ${internalPort} (internal) on 127.0.0.1`,
        data: 'the database of DATABASE_URL',
      }),
    ])
    expect(lines.filter(({ steps }) => steps).map(({ msg }) => msg)).toEqual([
      'The database is empty. What to do next:',
    ])
    expect(lines.filter(({ requestId }) => requestId)).toHaveLength(2)

    const warnings = lines.filter(({ level }) => level === 40).map(({ msg }) => msg)
    expect(warnings).toEqual([
      'SECRET_KEY in .env is not a setting of this service: is SECRETS_KEY meant?',
      'TRUSTED_PROXY in the environment is not a setting of this service: is TRUSTED_PROXIES meant?',
      'SECRETS_KEY is not set: secrets and signing keys are encrypted with a key in DATA_DIR',
      expect.stringMatching(/^no member can sign in: set SMTP_URL and MAIL_FROM, or LOGIN_ISSUER .*$/),
      expect.stringMatching(/only this machine knows the host of APPS_BASE_URL, LMS_BASE_URL, .*, AUTH_BASE_URL$/),
      'warned',
      'deprecated',
    ])
    const printed = lines.filter(({ msg }) => ["printed { by: 'a package' }", 'noted', 'failed'].includes(msg))
    expect(printed.map(({ level }) => level)).toEqual([30, 30, 50])
  })

  it('of the worker is lines of JSON', async () => {
    const env = {
      DATA_DIR: await dataDirectory(),
      DATABASE_URL: await migratedDatabase(),
      NODE_ENV: 'production',
      NODE_OPTIONS: LOUD,
    }
    const program = run([worker], env)
    await expect.poll(() => program.stdout()).toContain('the worker delivers')
    program.child.kill('SIGUSR2')
    await expect.poll(() => program.stdout()).toContain('deprecated')
    program.child.kill('SIGTERM')
    const { code, stdout, stderr } = await program.ended
    expect([code, stderr]).toEqual([0, ''])
    expect(parsed(stdout).map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^SECRETS_KEY is not set/), 'the worker delivers', 'deprecated']),
    )
  })

  it('warns of nothing when SECRETS_KEY, a way to sign in and public addresses are set', async () => {
    const mailServer = await startMailServer()
    onTestFinished(mailServer.close)
    const at = (host: string) => `https://${host}.example.org/v1`
    const env = {
      DATA_DIR: await dataDirectory(),
      DATABASE_URL: await emptyDatabase(),
      NODE_ENV: 'production',
      SECRETS_KEY,
      APPS_BASE_URL: at('apps'),
      LMS_BASE_URL: at('lms'),
      NOTIFY_BASE_URL: at('notify'),
      SYNC_BASE_URL: at('sync'),
      AUTH_BASE_URL: at('auth'),
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'apps@example.org',
    }
    const { stop } = await start(env)
    const { stdout, stderr } = await stop()
    expect(stderr).toBe('')
    const lines = parsed(stdout)
    expect(lines.filter(({ level }) => level > 30)).toEqual([])
    const { steps } = lines.find((line) => line.steps)
    expect(steps[2]).toBe('Sign in a member, without an app: https://auth.example.org/v1/oauth/connected')
  })
})

describe('unknown names', () => {
  it('are told by commands, and beside settings that cannot be used, and without a value', async () => {
    const cwd = await dataDirectory()
    await writeFile(join(cwd, '.env'), 'LOGIN_ISSUR=canary\nLOGIN_CLIENT_ID=apps\nPGSSLMODE=disable\n')
    const main = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url))
    const { code, stdout, stderr } = await run([main], { DATA_DIR: cwd }, { cwd }).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.split('\n')).toEqual([
      'These settings cannot be used (.env.example describes them):',
      '  LOGIN_ISSUER: is required with LOGIN_CLIENT_ID',
      'LOGIN_ISSUR in .env is not a setting of this service: is LOGIN_ISSUER meant?',
      '',
    ])
    await writeFile(join(cwd, '.env'), 'POTR=canary\n')
    const args = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app']
    const token = await command('token', args, { DATA_DIR: cwd, SECRET_KEY: 'canary' }, { cwd }).ended
    expect(token).toMatchObject({ code: 0, signal: null })
    expect(token.stderr.split('\n')).toEqual([
      'POTR in .env is not a setting of this service: is PORT meant?',
      'SECRET_KEY in the environment is not a setting of this service: is SECRETS_KEY meant?',
      '',
    ])
    expect(token.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  })
})
