import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Browser, offered } from '../../oauth/browser.ts'
import { dataDirectory, freePort, send, until } from '../../process/service.ts'
import { npm } from '../install/npm.ts'
import { clientsWorld } from './clients-world.ts'

/** The versions in docs/apps.md. */
const PACKAGES = [
  'simple-oauth2@5.1.0',
  'arctic@3.7.0',
  '@badgateway/oauth2-client@3.3.1',
  'openid-client@5.7.1',
  '@openid/appauth@1.4.0',
  'tsx@4.23.12',
  'express-openid-connect@3.4.0',
  'express@5.3.0',
  'better-auth@1.7.25',
]

let directory: string
const here = clientsWorld(async (atEnd) => {
  directory = await dataDirectory(atEnd)
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await npm(directory, 'install', ...PACKAGES)
  await cp(join(import.meta.dirname, 'programs'), directory, { recursive: true })
})
const sandboxMember = expect.stringMatching(/^t_/)
/** Python's clients take an address with http for a mistake. */
const env = { OAUTHLIB_INSECURE_TRANSPORT: '1', AUTHLIB_INSECURE_TRANSPORT: '1' }
/** As each library has it. */
const revoked = expect.stringMatching(
  /^(?:invalid_grant|Bad Request|Response Error: 400 Bad Request|OAuth2 error invalid_grant.*)$/,
)

it.each([
  ['simple-oauth2', true, { expired: false }],
  ['arctic', false, { sub: sandboxMember }],
  ['arctic', true, { sub: sandboxMember }],
  ['oauth2-client', false, {}],
  ['oauth2-client', true, {}],
  ['openid-client-5', false, { sub: sandboxMember, name: 'Alex Test' }],
  ['openid-client-5', true, { sub: sandboxMember, name: 'Alex Test' }],
])('%s signs a member in, renews and revokes; with a secret: %s', async (name, server, more) => {
  const client = await here.register({ server })
  const result = await here.run([process.execPath, `${name}.mjs`], client, { cwd: directory })
  expect(result).toEqual({ member: sandboxMember, revoked, ...more })
})

it('AppAuth signs a member in at localhost, renews and revokes, and has a fresh token', async () => {
  const redirectUri = `http://localhost:${await freePort()}`
  const client = await here.register({ type: 'native', redirectUri })
  // It opens the system's browser.
  const opened = join(directory, 'opened')
  await writeFile(join(directory, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`)
  await chmod(join(directory, 'xdg-open'), 0o755)
  const result = here.runToEnd([join(directory, 'node_modules/.bin/tsx'), 'appauth.mjs'], client, {
    cwd: directory,
    env: { PATH: `${directory}:${process.env.PATH}` },
  })
  await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toContain(here.issuer)
  const back = await here.signIn(await readFile(opened, 'utf8'))
  expect((await fetch(back)).status).toBe(200)
  expect(await result).toEqual({ member: sandboxMember, isFresh: true, revoked })
})

it('express-openid-connect signs a member in, renews, reads userinfo and signs out', async () => {
  const app = `http://localhost:${await freePort()}`
  const client = await here.register({ server: true, redirectUri: `${app}/callback`, logout: app })
  await here.serve([process.execPath, 'express-openid-connect.mjs'], client, directory)
  const [atApp, atService] = [new Browser(Number(new URL(app).port)), here.newBrowser()]
  const back = await here.signIn((await atApp.get(`${app}/login`)).location!, atService)
  expect((await atApp.get(back)).location?.href).toBe(`${app}/`)
  expect((await atApp.get(app)).json).toEqual({ member: sandboxMember, sub: sandboxMember, name: 'Alex Test' })
  const page = await atService.open((await atApp.get(`${app}/logout`)).location!)
  const query = offered(page, 'query')[0]!.replaceAll('&amp;', '&')
  const done = await atService.submit(page, 'confirm', { query, decision: 'end' })
  expect(done.location?.href).toBe(`${app}/`)
})

it('better-auth signs a member in by its generic OAuth plugin', async () => {
  const app = `http://localhost:${await freePort()}`
  const client = await here.register({ server: true, redirectUri: `${app}/api/auth/callback/club` })
  await here.serve([process.execPath, 'better-auth.mjs'], client, directory)
  const atApp = new Browser(Number(new URL(app).port))
  const begin = JSON.stringify({ provider: 'club', callbackURL: app })
  const began = await atApp.post(`${app}/api/auth/sign-in/social`, begin, { 'content-type': 'application/json' })
  expect(began.status, began.text).toBe(200)
  const done = await atApp.get(await here.signIn(began.json.url))
  expect(done.location?.origin, done.text).toBe(app)
  const session = await atApp.get(`${app}/api/auth/get-session`)
  expect(session.json.user).toMatchObject({ name: 'Alex Test', email: 'alex@example.org' })
})

it('express-openid-connect without response_type gets unsupported_response_mode', async () => {
  const app = `http://localhost:${await freePort()}`
  const client = await here.register({ server: true, redirectUri: `${app}/callback` })
  await here.serve([process.execPath, 'express-openid-connect.mjs'], client, directory, { RESPONSE_TYPE: 'id_token' })
  const asked = await new Browser(Number(new URL(app).port)).get(`${app}/login`)
  const { location } = await here.newBrowser().open(asked.location!)
  expect(location!.searchParams.get('error')).toBe('unsupported_response_mode')
})

// As Debian 12 has them; docs/apps.md names the versions.

it.each([
  ['requests_oauthlib', false, {}],
  ['requests_oauthlib', true, {}],
  ['authlib', false, { sub: sandboxMember }],
  ['authlib', true, { sub: sandboxMember }],
])('%s signs a member in, renews and revokes; with a secret: %s', async (name, server, more) => {
  const client = await here.register({ server })
  const result = await here.run(['/usr/bin/python3', `${name}_client.py`], client, { cwd: directory, env })
  expect(result).toEqual({ member: sandboxMember, revoked: 'invalid_grant', ...more })
})

it('oidc-agent connects a device, and renews', async () => {
  const redirectUri = `http://localhost:${await freePort()}`
  const client = await here.register({ type: 'native', devices: true, redirectUri })
  const HOME = join(directory, 'home')
  await mkdir(HOME)
  const { next } = here.launch(['bash', 'oidc-agent.sh'], client, { cwd: directory, env: { HOME } })
  const address = await next()
  const user_code = /code: (\S+)/.exec(await next())![1]!
  const browser = here.newBrowser()
  const page = await here.signedIn(await browser.follow(await browser.post(address, { user_code })), browser)
  const answer = { organisation: offered(page, 'organisation')[0]!, scope: offered(page, 'scope'), decision: 'allow' }
  expect((await browser.submit(page, 'consent', answer)).text).toContain('The device is connected')
  const [first, renewed] = [await next(), await next()]
  expect(renewed).not.toBe(first)
  for (const token of [first, renewed]) {
    const headers = { authorization: `Bearer ${token}`, host: `localhost:${here.port}` }
    expect((await send(here.port, 'GET', '/apps/v1/me/profile', { headers })).body.id).toEqual(sandboxMember)
  }
})

it('mod_auth_openidc signs a member in with PKCE, and passes on who it is', async () => {
  const port = await freePort()
  const app = `http://localhost:${port}`
  const client = await here.register({ server: true, redirectUri: `${app}/callback` })
  const modules = '/usr/lib/apache2/modules'
  const names = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'headers', 'dir', 'mime']
  const config = `
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${directory}/apache.pid
ErrorLog ${directory}/apache.log
DocumentRoot ${directory}/site
${names.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
LoadModule auth_openidc_module ${modules}/mod_auth_openidc.so
TypesConfig /etc/mime.types
OIDCProviderMetadataURL ${here.issuer}/.well-known/openid-configuration
OIDCClientID ${client.id}
OIDCClientSecret ${client.secret}
OIDCRedirectURI ${app}/callback
OIDCCryptoPassphrase a-long-random-text
OIDCScope "openid profile email"
OIDCPKCEMethod S256
<Location />
  AuthType openid-connect
  Require valid-user
  Header set X-Member "expr=%{REMOTE_USER}"
  Header set X-Name "%{OIDC_CLAIM_name}e"
</Location>
`
  await mkdir(join(directory, 'site'))
  await writeFile(join(directory, 'site/index.html'), 'the site')
  await writeFile(join(directory, 'apache.conf'), config)
  here.launch(['/usr/sbin/apache2', '-D', 'FOREGROUND', '-f', join(directory, 'apache.conf')], client, {
    cwd: directory,
  })
  const atApp = new Browser(port)
  await until(
    () =>
      atApp.get(app).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status !== 0,
  )
  const asked = await atApp.get(app)
  expect(asked.status, asked.text).toBe(302)
  const done = await atApp.follow(await atApp.get(await here.signIn(asked.location!)))
  const site = done.location ? await atApp.get(done.location) : done
  expect([site.status, site.text]).toEqual([200, 'the site'])
  expect(site.headers['x-member']).toMatch(/^t_\w+@/)
  expect(site.headers['x-name']).toBe('Alex Test')
})
