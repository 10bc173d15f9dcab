import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { command, dataDirectoryWithCluster, freePort, send, start, tokenOf } from './service.ts'

const run = promisify(execFile)
const apps = join(import.meta.dirname, '../../docs/apps.md')

describe('the addresses of the trial', () => {
  it('follow PORT: banner, curl line, documents, issuer, sample app, program of docs/apps.md', async () => {
    const DATA_DIR = await dataDirectoryWithCluster()
    const service = await start({ DATA_DIR })
    const { port } = service
    const base = (section: string) => `http://${section}.localhost:${port}/v1`
    for (const section of ['apps', 'lms', 'notify', 'sync'] as const) {
      expect(service.stdout()).toContain(`${section.padEnd(7)} ${base(section)}\n`)
      const { servers } = (await get(port, `${section}.localhost:${port}`, '/v1/openapi.json')).body
      expect(servers).toEqual([{ url: base(section) }, { url: `http://localhost:${port}/${section}/v1` }])
      expect(service.stdout()).toContain(`http://localhost:${port}/${section}/v1`)
    }
    expect(service.stdout()).toMatch(new RegExp(`^curl .* ${base('apps')}/me/profile$`, 'm'))
    const issuer = `${base('auth')}/oauth`
    const metadata = await get(port, 'auth.localhost', '/.well-known/oauth-authorization-server/v1/oauth')
    expect(metadata.body).toMatchObject({ issuer, token_endpoint: `${issuer}/token` })
    const app = `http://example.localhost:${port}/`
    expect(service.stdout()).toContain(app)
    expect((await get(port, 'example.localhost', '/config.json')).body).toMatchObject({ api: base('apps'), issuer })
    expect((await command('client', ['list'], { DATA_DIR }).ended).stdout).toContain(app)
    expect(
      service
        .stdout()
        .match(/localhost:\d+/g)!
        .sort(),
    ).not.toContain('localhost:3000')

    // Node may not resolve *.localhost.
    const [, program] = /```js\n(.*?)```/s.exec(await readFile(apps, 'utf8'))!
    const directory = await mkdtemp(join(tmpdir(), 'member-apps-first-call-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await writeFile(join(directory, 'first-call.mjs'), program!)
    const env = { PATH: process.env.PATH, API: `http://localhost:${service.port}/apps/v1`, TOKEN: tokenOf(service) }
    const { stdout, stderr } = await run(process.execPath, ['first-call.mjs'], { cwd: directory, env })
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^Anna Berger: \S.*\n$/), ''])
    await service.stop()
  })

  it('that are given win over PORT, and the sample app has their port', async () => {
    const given = await freePort()
    const env = { DATA_DIR: await dataDirectoryWithCluster(), APPS_BASE_URL: `http://apps.localhost:${given}/v1` }
    const service = await start(env)
    const { port } = service
    expect(service.stdout()).toContain(
      `\napps    http://apps.localhost:${given}/v1\nlms     http://lms.localhost:${port}/v1\n`,
    )
    expect(service.stdout()).toContain(` http://apps.localhost:${given}/v1/me/profile\n`)
    expect(service.stdout()).toContain(`http://example.localhost:${given}/\n`)
    const { servers } = (await get(port, 'apps.localhost', '/v1/openapi.json')).body
    expect(servers[0]).toEqual({ url: `http://apps.localhost:${given}/v1` })
    await service.stop()
  })
})

const get = (port: number, host: string, path: string) => send(port, 'GET', path, { headers: { host } })
