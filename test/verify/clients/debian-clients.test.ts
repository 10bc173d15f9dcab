import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Browser, offered } from '../../oauth/browser.ts'
import { freePort, send, until } from '../../process/service.ts'
import { clientsWorld } from './clients-world.ts'

// As Debian 12 has them; docs/apps.md names the versions.

const PYTHON = '/usr/bin/python3'
const programs = join(import.meta.dirname, 'programs')
let directory: string
const here = clientsWorld(async (atEnd) => {
  directory = await mkdtemp(join(tmpdir(), 'member-apps-debian-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
})
const sandboxMember = expect.stringMatching(/^t_/)
/** They take an address with http for a mistake. */
const env = { OAUTHLIB_INSECURE_TRANSPORT: '1', AUTHLIB_INSECURE_TRANSPORT: '1' }

it.each([
  ['requests_oauthlib', false, {}],
  ['requests_oauthlib', true, {}],
  ['authlib', false, { sub: sandboxMember }],
  ['authlib', true, { sub: sandboxMember }],
])('%s signs a member in, renews and revokes; with a secret: %s', async (name, server, more) => {
  const client = await here.register({ server })
  const result = await here.run([PYTHON, join(programs, `${name}_client.py`)], client, { cwd: directory, env })
  expect(result).toEqual({ member: sandboxMember, revoked: 'invalid_grant', ...more })
})

it('oidc-agent connects a device, and renews', async () => {
  const redirectUri = `http://localhost:${await freePort()}`
  const client = await here.register({ type: 'native', devices: true, redirectUri })
  const HOME = join(directory, 'home')
  await mkdir(HOME)
  const { next } = here.launch(['bash', join(programs, 'oidc-agent.sh')], client, { cwd: directory, env: { HOME } })
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
