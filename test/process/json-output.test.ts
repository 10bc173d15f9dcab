import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startMailServer } from '../oauth/mail-server.ts'
import { emptyDatabase } from '../support/databases.ts'
import { listenLocally } from '../support/local-server.ts'
import { annaIn, command, dataDirectory, externalSettings, launchWorker, run, send, start } from './service.ts'

const SECRETS_KEY = randomBytes(32).toString('base64')
const APIS = ['apps', 'lms', 'notify', 'sync']

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

/** The lines of an output, each of which is JSON. */
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
    const env = { DATA_DIR: directory, DATABASE_URL: await emptyDatabase(), NODE_ENV: 'production', NODE_OPTIONS: LOUD }
    const service = await start({ ...env, TRUSTED_PROXY: 'canary' }, { cwd: directory })
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
        ...Object.fromEntries(APIS.map((api) => [api, `http://${api}.localhost:${port}/v1`])),
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
    const env = { ...(await externalSettings()), NODE_ENV: 'production', NODE_OPTIONS: LOUD }
    const program = launchWorker(env)
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
    const at = (host: string) => [`${host.toUpperCase()}_BASE_URL`, `https://${host}.example.org/v1`]
    const env = {
      ...(await externalSettings()),
      ...Object.fromEntries([...APIS, 'auth'].map(at)),
      NODE_ENV: 'production',
      SECRETS_KEY,
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

it('unknown names are reported by commands, and beside settings that cannot be used, and without a value', async () => {
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
  const token = await command('token', annaIn('riverside'), { DATA_DIR: cwd, SECRET_KEY: 'canary' }, { cwd }).ended
  expect(token).toMatchObject({ code: 0, signal: null })
  expect(token.stderr.split('\n')).toEqual([
    'POTR in .env is not a setting of this service: is PORT meant?',
    'SECRET_KEY in the environment is not a setting of this service: is SECRETS_KEY meant?',
    '',
  ])
  expect(token.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
})

/**
 * The address of a server that accepts connections, of which `asked` have sent something, and `end`, which closes them without an
 * answer.
 */
async function silent() {
  const sockets: Socket[] = []
  const asked = new Set<Socket>()
  const port = await listenLocally(
    createServer((socket) => {
      sockets.push(socket.on('error', () => {}).on('data', () => asked.add(socket)))
    }),
  )
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(end)
  return { host: `127.0.0.1:${port}`, sockets, asked, end }
}

it('a start does not wait for SMTP_URL and LOGIN_ISSUER, and warns once of each that it does not reach', async () => {
  const [mailServer, provider] = [await silent(), await silent()]
  const service = await start({
    ...(await externalSettings()),
    NODE_ENV: 'production',
    SMTP_URL: `smtp://${mailServer.host}`,
    MAIL_FROM: 'apps@example.org',
    LOGIN_ISSUER: `http://${provider.host}`,
    LOGIN_CLIENT_ID: 'apps',
  })
  // After five seconds without an answer, fetch connects once more and sends nothing.
  const asked = () => [mailServer.sockets.length, provider.asked.size]
  await expect.poll(asked).toEqual([1, 1])
  mailServer.end()
  provider.end()
  const messages = () => parsed(service.stdout()).map(({ msg }) => msg as string)
  const said = () => messages().filter((text) => /the service listens|SMTP_URL cannot|LOGIN_ISSUER cannot/.test(text))
  await expect.poll(said).toHaveLength(3)
  expect((await send(service.internalPort, 'GET', '/readyz')).status).toBe(200)
  const [listens, ...warnings] = said()
  expect(listens).toBe('the service listens')
  expect(warnings.sort()).toEqual([
    expect.stringMatching(/^the mail server of SMTP_URL cannot be used: \S/),
    expect.stringMatching(/^the provider of LOGIN_ISSUER cannot be used: .*(?:ECONNRESET|fetch failed|timed out)/),
  ])
  expect(asked()).toEqual([1, 1])
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
})
