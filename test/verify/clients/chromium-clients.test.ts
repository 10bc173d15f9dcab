import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { freePort, run, send, until } from '../../process/service.ts'
import { inChromium } from '../in-chromium.ts'
import { npm, offline } from '../install/npm.ts'

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
    directory = await mkdtemp(join(tmpdir(), 'member-apps-openid-'))
    atEnd(() => rm(directory, { recursive: true, force: true }))
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

  /** A sandbox client that the portal made; with a secret if the app has a server. */
  async function register(redirect: string, { server }: { server: boolean }) {
    const { context, page } = await here.visit()
    await page.goto(`http://auth.localhost:${here.service.port}/v1/oauth/developers`)
    await pick(page)
    await page.getByRole('link', { name: 'Builders GmbH' }).click()
    await page.getByText('New app').click()
    await page.getByLabel('Name').fill('Scores')
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByText('New sandbox client').click()
    const form = page.locator('form[action$="/clients"]')
    await form.getByLabel('Name', { exact: true }).fill('Scores')
    await form.getByLabel('Redirect URIs').fill(redirect)
    for (const scope of [...OPENID, 'svc.me.profile:read']) await form.locator(`input[value="${scope}"]`).check()
    await form.getByRole('button', { name: 'Create client' }).click()
    const shown = (label: string) => page.locator(`code[data-copy="${label}"]`).innerText()
    await page.locator('#settings-postLogoutRedirectUris').waitFor()
    const id = await shown('Client id')
    await page.locator('#settings-postLogoutRedirectUris').fill(redirect)
    await page.locator('form[action$="/settings"] button').click()
    await page.getByText('Saved.').waitFor()
    let secret = ''
    if (server) {
      await page.getByRole('button', { name: 'Create a secret' }).click()
      secret = await shown('Secret')
      await page.getByText('I have stored it').click()
      await page.locator('#authentication-authentication').selectOption('client_secret')
      await page.locator('form[action$="/authentication"] button').click()
      await page.getByText('Saved.').waitFor()
    }
    await context.close()
    return { id, secret }
  }

  async function startServer(file: string, callback: string) {
    const port = await freePort()
    const { id, secret } = await register(`http://localhost:${port}${callback}`, { server: true })
    const env = { PORT: `${port}`, ISSUER: issuer(), CLIENT_ID: id, CLIENT_SECRET: secret }
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
    const { id } = await register(app, { server: false })

    const { context, page, complaints } = await here.visit()
    const status = async () => JSON.parse(await page.getByRole('status').innerText())
    await page.goto(`${app}?${new URLSearchParams({ issuer: issuer(), client: id })}`)
    await page.locator('#in').click()
    await pick(page)
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await allow(page)
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
    await context.close()
  })

  it('Auth.js signs a member in', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    const app = await startServer('auth-js.mjs', '/auth/callback/club')
    const { context, page } = await here.visit()
    await page.goto(`${app}/auth/signin?callbackUrl=${encodeURIComponent(app)}`)
    await page.getByRole('button', { name: 'the club' }).click()
    await pick(page)
    await allow(page)
    await page.waitForURL(`${app}/`)
    expect(JSON.parse(await page.locator('body').innerText())).toMatchObject({
      user: { name: 'Alex Test', email: 'alex@example.org' },
      sub: expect.stringMatching(/^t_/),
    })
    await context.close()
  })

  it('passport-openidconnect signs a member in, with the printed lines for PKCE', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    const app = await startServer('passport.mjs', '/callback')
    const { context, page } = await here.visit()
    await page.goto(`${app}/login`)
    await pick(page)
    await allow(page)
    await page.waitForURL(`${app}/callback?*`)
    expect(JSON.parse(await page.locator('body').innerText())).toEqual({
      id: expect.stringMatching(/^t_/),
      displayName: 'Alex Test',
      emails: [{ value: 'alex@example.org' }],
    })
    await context.close()
  })

  it('passport-openidconnect without PKCE learns that it is needed', async ({ skip }) => {
    if (missing) return skip('No registry answers.')
    await writeFile(join(directory, 'strategy.mjs'), "export { Strategy } from 'passport-openidconnect'\n")
    const app = await startServer('passport.mjs', '/callback')
    const { context, page } = await here.visit()
    await page.goto(`${app}/login`)
    expect(JSON.parse(await page.locator('body').innerText())).toEqual({
      name: 'AuthorizationError',
      code: 'invalid_request',
      message: 'Authorization Server policy requires PKCE to be used for this request',
    })
    await context.close()
  })
})

/** The example of docs/apps.md. */
async function printedStrategy() {
  const text = await readFile(join(import.meta.dirname, '../../../docs/apps.md'), 'utf8')
  return /```js\n([^`]*passport-openidconnect[^`]*)```/.exec(text)![1]!
}

async function pick(page: Page) {
  await page.locator('select[name=member]').selectOption('anna')
  await page.locator('form[action$="/pick"] button').click()
}

const allow = (page: Page) => page.locator('button[name=decision][value=allow]').click()
