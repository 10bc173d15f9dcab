import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { query } from '../../support/databases.ts'
import type { Service } from '../service.ts'
import { command, dataDirectoryWithDemo, externalSettings, send, start } from '../service.ts'

const file = (name: string, of = 'examples/third-party') =>
  readFileSync(new URL(`../../../${of}/${name}`, import.meta.url), 'utf8')
const line = 'Sign a member in, as an app does: '

const get = ({ port }: Service, path: string, host = `example.localhost:${port}`, method = 'GET') =>
  send(port, method, path, { headers: { host } })

describe('the example', () => {
  it('has under 200 lines of JavaScript', () => {
    expect(file('app.js').trimEnd().split('\n').length).toBeLessThan(200)
  })

  it('has each of its texts in German, and no other', () => {
    const inPage = [...file('index.html').matchAll(/data-(?:text>|none=")([^<"]+)/g)].map(([, text]) => text!)
    // Sentences, and what `t` gets besides.
    const inScript = [...file('app.js').matchAll(/'([A-Z][^'\n]*[.:…])'/g)].map(([, text]) => text!)
    const roles = ['trainer', 'member']
    expect(Object.keys(JSON.parse(file('de.json'))).sort()).toEqual(
      [...new Set([...inPage, ...inScript, ...roles])].sort(),
    )
  })

  it('is served at its own host in the default set-up, only these files, on any port', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const service = await start({ DATA_DIR })
    const { port } = service
    expect(service.stdout()).toContain(`\n${line}http://example.localhost:${port}/\n`)

    for (const [path, name, type] of [
      ['/', 'index.html', 'text/html; charset=utf-8'],
      ['/?code=x&state=y', 'index.html', 'text/html; charset=utf-8'],
      ['/app.js', 'app.js', 'text/javascript; charset=utf-8'],
      ['/style.css', 'style.css', 'text/css; charset=utf-8'],
      ['/de.json', 'de.json', 'application/json; charset=utf-8'],
      ['/sdk/client.js', 'client.js', 'text/javascript; charset=utf-8'],
      ['/sdk/browser.js', 'browser.js', 'text/javascript; charset=utf-8'],
      ['/sdk/shared.js', 'shared.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const { status, headers, text } = await get(service, path)
      const served = path.startsWith('/sdk/') ? file(name, 'clients/sdk/dist') : file(name)
      expect({ path, status, type: headers['content-type'], text }).toEqual({ path, status: 200, type, text: served })
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ` +
          `http://apps.localhost:${port}/v1/ http://sync.localhost:${port}/v1/ http://auth.localhost:${port}/v1/oauth/ ` +
          `http://auth.localhost:${port}/.well-known/oauth-authorization-server/v1/oauth; ` +
          `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      )
    }
    expect((await get(service, '/config.json')).body).toEqual({
      api: `http://apps.localhost:${port}/v1`,
      sync: `http://sync.localhost:${port}/v1`,
      issuer: `http://auth.localhost:${port}/v1/oauth`,
      client_id: 'example-app',
    })
    expect((await get(service, '/', 'EXAMPLE.localhost.')).status).toBe(200)
    expect(await get(service, '/', undefined, 'HEAD')).toMatchObject({ status: 200, text: '' })

    const nowhere = ['/README.md', '/index.html', '/APP.js', '/app.js/', '//app.js', '/../package.json']
    const more = [
      '/%2e%2e/package.json',
      '/..%2f..%2f.env',
      '/app.js%00',
      '/sdk/browser.d.ts',
      '/sdk/',
      '/v1',
      '/v1/me/profile',
      '/v1/openapi.json',
    ]
    for (const path of [...nowhere, ...more]) {
      expect([path, (await get(service, path)).status]).toEqual([path, 404])
    }
    expect(await get(service, '/app.js', undefined, 'POST')).toMatchObject({
      status: 405,
      headers: { allow: 'HEAD, GET' },
    })
    for (const host of [
      `apps.localhost:${port}`,
      'localhost',
      'example.localhost.evil.example',
      'xexample.localhost',
    ]) {
      expect([host, (await get(service, '/app.js', host)).status]).toEqual([host, 404])
    }
    await service.stop()
  })

  it('is a redirect target on every port it was served at, and is not offered once its client is removed', async () => {
    const env = { DATA_DIR: await dataDirectoryWithDemo() }
    const ports: number[] = []
    for (let n = 0; n < 2; n++) {
      const service = await start(env)
      ports.push(service.port)
      await service.stop()
    }
    const { stdout } = await command('client', ['list'], env).ended
    const addresses = stdout.match(/http:\/\/example\.localhost:\d+\//g)
    expect(addresses).toEqual([3000, ...ports].map((port) => `http://example.localhost:${port}/`))

    await command('client', ['remove', '--id', 'example-app', '--yes'], env).ended
    const later = await start(env)
    expect(later.stdout()).not.toContain(line)
    await later.stop()
    expect((await command('client', ['list'], env).ended).stdout).not.toContain('example')
  })

  it.each([
    ['in production', { NODE_ENV: 'production' }, false],
    ["with an operator's database", {}, true],
    ['with an external issuer', { TOKEN_ISSUER: 'https://id.example.org' }, false],
  ])('is not served %s', async (_how, more, external) => {
    const env = external
      ? { ...more, ...(await externalSettings()) }
      : { ...more, DATA_DIR: await dataDirectoryWithDemo() }
    if (external) await command('seed', [], env).ended
    const service = await start(env)
    expect(service.stdout()).not.toContain(line)
    for (const path of ['/', '/app.js', '/config.json']) expect((await get(service, path)).status).toBe(404)
    if ('DATABASE_URL' in env) {
      const rows = await query(env.DATABASE_URL, `SELECT "redirectUris" FROM "Client" WHERE id = 'example-app'`)
      expect(rows).toEqual([{ redirectUris: ['http://example.localhost:3000/'] }])
    }
    await service.stop()
  })
})
