import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { endAfterAll } from '../support/after-all.ts'
import { migratedDatabase } from '../support/databases.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { Service } from './service.ts'
import { command, dataDirectoryWithDemo, externalSettings, freePort, readToken, send, start } from './service.ts'

const run = promisify(execFile)
const apps = join(import.meta.dirname, '../../docs/apps.md')

const ask = (port: number, host: string, path: string, method = 'GET') =>
  send(port, method, path, { headers: { host } })

describe('the addresses of the trial', () => {
  it('follow PORT: banner, curl line, documents, issuer, sample app, documentation, program of docs/apps.md', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const service = await start({ DATA_DIR })
    const { port } = service
    const base = (section: string) => `http://${section}.localhost:${port}/v1`
    for (const section of ['apps', 'lms', 'notify', 'sync'] as const) {
      expect(service.stdout()).toContain(`${section.padEnd(7)} ${base(section)}\n`)
      const { servers } = (await ask(port, `${section}.localhost:${port}`, '/v1/openapi.json')).body
      expect(servers).toEqual([{ url: base(section) }, { url: `http://localhost:${port}/${section}/v1` }])
      expect(service.stdout()).toContain(`http://localhost:${port}/${section}/v1`)
    }
    expect(service.stdout()).toMatch(new RegExp(`^curl .* ${base('apps')}/me/profile$`, 'm'))
    const issuer = `${base('auth')}/oauth`
    const metadata = await ask(port, 'auth.localhost', '/.well-known/oauth-authorization-server/v1/oauth')
    expect(metadata.body).toMatchObject({ issuer, token_endpoint: `${issuer}/token` })
    const app = `http://example.localhost:${port}/`
    expect(service.stdout()).toContain(app)
    expect((await ask(port, 'example.localhost', '/config.json')).body).toMatchObject({ api: base('apps'), issuer })
    expect((await command('client', ['list'], { DATA_DIR }).ended).stdout).toContain(app)
    expect(service.stdout().match(/localhost:\d+/g)).not.toContain('localhost:3000')
    const page = (await ask(port, `localhost:${port}`, '/docs/first-party')).text
    expect(page).toContain(`http://localhost:${service.internalPort}/trpc`)
    expect(page).not.toMatch(/:300[01]\b/)

    // Node may not resolve *.localhost.
    const [, program] = /```js\n(.*?)```/s.exec(await readFile(apps, 'utf8'))!
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'first-call.mjs'), program!)
    const env = { PATH: process.env.PATH, API: `http://localhost:${service.port}/apps/v1`, TOKEN: readToken(service) }
    const { stdout, stderr } = await run(process.execPath, ['first-call.mjs'], { cwd: directory, env })
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^Anna Berger: \S.*\n$/), ''])
    await service.stop()
  })

  it('are those that commands print while it runs, unless AUTH_BASE_URL is given', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const service = await start({ DATA_DIR })
    const invite = async (more: Record<string, string> = {}) => {
      const options = ['--team', 'builders', '--email', 'jo@sailors.example.org', '--json']
      const { stdout, stderr } = await command('team', ['invite', ...options], { DATA_DIR, ...more }).ended
      return stdout ? JSON.parse(stdout).portal : stderr
    }
    const noted = join(DATA_DIR, 'auth-base-url')
    expect((await stat(noted)).mode & 0o777).toBe(0o600)
    expect(await invite()).toBe(`http://auth.localhost:${service.port}/v1/oauth/developers`)
    const AUTH_BASE_URL = 'https://auth.example.org/v1'
    expect(await invite({ AUTH_BASE_URL })).toBe(`${AUTH_BASE_URL}/oauth/developers`)
    const client = ['add', '--first-party', '--id', 'job', '--name', 'Job', '--scope', 'ntf.events:write']
    const added = await command('client', client, { DATA_DIR }).ended
    expect(added.stdout).toMatch(new RegExp(` http://auth\\.localhost:${service.port}/v1/oauth/token\n$`))
    await service.stop()
    await expect(stat(noted)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('that are given win over PORT, and the sample app has their port', async () => {
    const given = await freePort()
    const env = { DATA_DIR: await dataDirectoryWithDemo(), APPS_BASE_URL: `http://apps.localhost:${given}/v1` }
    const service = await start(env)
    const { port } = service
    expect(service.stdout()).toContain(
      `\napps    http://apps.localhost:${given}/v1\nlms     http://lms.localhost:${port}/v1\n`,
    )
    expect(service.stdout()).toContain(` http://apps.localhost:${given}/v1/me/profile\n`)
    expect(service.stdout()).toContain(`http://example.localhost:${given}/\n`)
    const { servers } = (await ask(port, 'apps.localhost', '/v1/openapi.json')).body
    expect(servers[0]).toEqual({ url: `http://apps.localhost:${given}/v1` })
    await service.stop()
  })
})

/** An address of this machine that other machines reach, if it has one. */
const outer = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

const accepts = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host)
    const end = (accepted: boolean) => () => {
      socket.destroy()
      resolve(accepted)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })

const ports = (port: number, host: string, internalPort: number, internalHost: string) =>
  `\nports   ${port} (public) on ${host}, ${internalPort} (internal) on ${internalHost}\n`

describe('with DATABASE_URL', () => {
  const atEnd = endAfterAll()
  let service: Service
  beforeAll(async () => {
    const env = {
      ...(await externalSettings(migratedDatabase, atEnd)),
      APPS_BASE_URL: 'https://apps.example.org/v1',
      AUTH_BASE_URL: 'https://auth.example.org/v1',
      LMS_BASE_URL: 'http://lms.example.org/v1',
    }
    service = await start(env, { atEnd })
  })

  it.skipIf(outer === undefined)('the ports are open to other machines on the public side only', async () => {
    const { port, internalPort, stdout } = service
    expect(stdout()).toContain(ports(port, 'every interface', internalPort, '127.0.0.1'))
    expect(await Promise.all([port, internalPort].map((one) => accepts(outer!, one)))).toEqual([true, false])
  })

  it.skipIf(outer === undefined)('the ports listen where HOST and INTERNAL_HOST say', async () => {
    const env = await externalSettings()
    const { port, internalPort, stdout } = await start({ ...env, HOST: '127.0.0.1', INTERNAL_HOST: outer! })
    expect(stdout()).toContain(`\ntRPC    http://${outer}:${internalPort}/trpc\n`)
    expect(stdout()).toContain(ports(port, '127.0.0.1', internalPort, outer!))
    expect(await Promise.all([port, internalPort].map((one) => accepts('127.0.0.1', one)))).toEqual([true, false])
    expect(await Promise.all([port, internalPort].map((one) => accepts(outer!, one)))).toEqual([false, true])
  })

  const YEAR = 'max-age=31536000'
  it.each([
    ['apps.example.org', '/v1/me/profile', 401, YEAR],
    ['APPS.example.org:443', '/v1/openapi.json', 200, YEAR],
    ['apps.example.org', '/v1/nothing', 404, YEAR],
    ['apps.example.org', '/v1/storage/c/k', 204, YEAR, 'OPTIONS'],
    ['auth.example.org', '/v1/oauth/connected', expect.any(Number), YEAR],
    ['auth.example.org', '/v1/oauth/jwks', 200, YEAR],
    ['auth.example.org', '/v1/oauth/token', 400, YEAR, 'POST'],
    ['lms.example.org', '/v1/openapi.json', 200, undefined],
    ['other.example.org', '/v1/nothing', 404, undefined],
  ])('Strict-Transport-Security is on a response of a host whose base address is https: %s%s', async (...row) => {
    const [host, path, expected, policy, method] = row
    const { status, headers } = await ask(service.port, host, path, method)
    expect([status, headers['strict-transport-security']]).toEqual([expected, policy])
    const internal = await ask(service.internalPort, host, '/healthz')
    expect(internal.headers['strict-transport-security']).toBe(undefined)
  })
})
