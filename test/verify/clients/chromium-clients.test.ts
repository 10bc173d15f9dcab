import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { dataDirectory, freePort, run, send, until } from '../../process/service.ts'
import { inChromium } from '../in-chromium.ts'
import { npm, offline } from '../install/npm.ts'
import { decide, pick } from '../sign-in-pages.ts'
import { registrar } from './clients-world.ts'

/** The versions in docs/apps.md. */
const PACKAGES = [
  'oidc-client-ts@3.5.0',
  '@auth/express@0.12.3',
  'passport@0.7.0',
  'passport-openidconnect@0.1.2',
  'express@5.3.0',
  'express-session@1.19.0',
]
const OPENID = ['openid', 'profile', 'email']
const programs = join(import.meta.dirname, 'programs')

describe.skipIf(!chromium)(`OpenID Connect libraries, as npm has them${skipReason}`, () => {
  let directory: string
  let missing = false
  const here = inChromium(async (_, atEnd) => {
    directory = await dataDirectory(atEnd)
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
    await npm(directory, 'install', ...PACKAGES).catch((error: Error) => {
      missing = offline.test(error.message)
      if (!missing) throw error
    })
    for (const file of ['auth-js.mjs', 'passport.mjs']) await copyFile(join(programs, file), join(directory, file))
    await writeFile(join(directory, 'strategy.mjs'), await printedStrategy())
    return {}
  })

  const issuer = () => `http://localhost:${here.service.port}/auth/v1/oauth`

  async function startServer(file: string, callback: string) {
    const port = await freePort()
    const client = { server: true, redirectUri: `http://localhost:${port}${callback}` }
    const { id, secret } = await registrar(here.service.port)(client)
    const env = { PORT: `${port}`, ISSUER: issuer(), CLIENT_ID: id, CLIENT_SECRET: secret! }
    const program = run([join(directory, file)], env, { cwd: directory })
    here.atEnd(async () => {
      program.child.kill('SIGKILL')
      await program.ended
    })
    await until(
      async () => program.stdout() + program.stderr(),
      (text) => text.includes('ready'),
    )
    return `http://localhost:${port}`
  }

  const profileWith = (token: string) =>
    send(here.service.port, 'GET', '/v1/me/profile', {
      headers: { host: 'apps.localhost', authorization: `Bearer ${token}` },
    })

  it('oidc-client-ts signs a member in, renews, reads userinfo and signs out', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    const server = createServer(async (req, res) => {
      const isScript = req.url === '/oidc-client-ts.js'
      const file = join(directory, 'node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js')
      res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      res.end(await readFile(isScript ? file : join(programs, 'oidc-client-ts.html')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    here.atEnd(async () => void server.close())
    const app = `http://localhost:${(server.address() as AddressInfo).port}/`
    const { id } = await registrar(here.service.port)({ redirectUri: app, logout: app })

    const address = `${app}?${new URLSearchParams({ issuer: issuer(), client: id })}`
    const { page, complaints } = await here.visit(address)
    const status = async () => JSON.parse(await page.getByRole('status').innerText())
    await page.locator('#in').click()
    await pick(page)
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await decide(page, 'allow')
    await page.getByText('signed in, page 7').waitFor()
    const { user } = await status()
    expect(user).toMatchObject({
      name: 'Alex Test',
      email: 'alex@example.org',
      scope: ['svc.me.profile:read', ...OPENID].join(' '),
    })
    expect((await profileWith(user.token)).body.id).toBe(user.sub)

    await page.locator('#renew').click()
    await page.getByText('renewed').waitFor()
    const renewed = (await status()).user
    expect(renewed).toEqual({ ...user, token: expect.not.stringMatching(user.token) })
    expect((await profileWith(renewed.token)).status).toBe(200)

    await page.locator('#out').click()
    await page.locator('form[method=post] button.primary').click()
    await page.getByText('signed out').waitFor()
    // The session has ended: the next sign-in asks who it is.
    await page.locator('#in').click()
    await page.locator('select[name=member]').waitFor()
    expect(complaints).toEqual([])
  })

  it('Auth.js signs a member in', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    const app = await startServer('auth-js.mjs', '/auth/callback/club')
    const { page } = await here.visit(`${app}/auth/signin?callbackUrl=${encodeURIComponent(app)}`)
    await page.getByRole('button', { name: 'the club' }).click()
    await pick(page)
    await decide(page, 'allow')
    await page.waitForURL(`${app}/`)
    expect(JSON.parse(await page.locator('body').innerText())).toMatchObject({
      user: { name: 'Alex Test', email: 'alex@example.org' },
      sub: expect.stringMatching(/^t_/),
    })
  })

  it('passport-openidconnect signs a member in, with the printed lines for PKCE', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    const app = await startServer('passport.mjs', '/callback')
    const { page } = await here.visit(`${app}/login`)
    await pick(page)
    await decide(page, 'allow')
    await page.waitForURL(`${app}/callback?*`)
    expect(JSON.parse(await page.locator('body').innerText())).toEqual({
      id: expect.stringMatching(/^t_/),
      displayName: 'Alex Test',
      emails: [{ value: 'alex@example.org' }],
    })
  })

  it('passport-openidconnect without PKCE learns that it is needed', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    await writeFile(join(directory, 'strategy.mjs'), "export { Strategy } from 'passport-openidconnect'\n")
    const app = await startServer('passport.mjs', '/callback')
    const { page } = await here.visit(`${app}/login`)
    expect(JSON.parse(await page.locator('body').innerText())).toEqual({
      name: 'AuthorizationError',
      code: 'invalid_request',
      message: 'Authorization Server policy requires PKCE to be used for this request',
    })
  })
})

/** The example of docs/apps.md. */
async function printedStrategy() {
  const text = await readFile(join(import.meta.dirname, '../../../docs/apps.md'), 'utf8')
  return /```js\n([^`]*passport-openidconnect[^`]*)```/.exec(text)![1]!
}
