import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Page } from '../oauth/browser.ts'
import { Browser } from '../oauth/browser.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { dataDirectoryWithDemo, run, start } from './service.ts'

const scopes = ['svc.me.profile:read', 'svc.me.groups:read', 'svc.apps.storage:read', 'svc.apps.storage:write']
const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')
const readCommands = ({ text }: Page) =>
  [...text.matchAll(/<pre [^>]*>\n<code [^>]*>([^<]*)<\/code><\/pre>/g)].map(([, lines]) =>
    unescaped(lines!).split('\n'),
  )

it('a newcomer gets by the address of a trial, the portal and the printed commands to a first call', async () => {
  const service = await start({ DATA_DIR: await dataDirectoryWithDemo() })
  const portal = `http://localhost:${service.port}/auth/v1/oauth/developers`

  // Sign in, a team, an app, a client.
  const browser = new Browser(service.port)
  const signIn = await browser.open(portal)
  await browser.submit(signIn, 'pick', { member: 'dora' })
  const team = await browser.follow(await browser.post(`${portal}/create-team`, { name: 'Newcomers' }))
  expect(team.url.href).toContain('?done=founded')
  const provider = /<select id="apps-provider"[^>]*><option value="([^"]+)"/.exec(team.text)![1]!
  const app = await browser.follow(
    await browser.post(`${portal}${team.url.pathname.split('/developers')[1]}/apps`, { name: 'Hello', provider }),
  )
  const made = await browser.post(`${app.url.origin}${app.url.pathname}/clients/create`, {
    name: 'Hello',
    type: 'web',
    redirectUris: 'http://localhost:4321/',
    scopes: scopes.slice(0, 1),
  })
  // The page of next commands says what the client lacks, and adds it.
  const before = await browser.follow(made)
  expect(before.url.href).toMatch(/\/clients\/c_\w+\/start\?done=created$/)
  for (const missing of ['http://localhost:5173/', ...scopes.slice(1)]) expect(before.text).toContain(missing)
  const page = await browser.follow(await browser.post(`${before.url.origin}${before.url.pathname}/prepare`, {}))
  expect(page.text).not.toContain('/prepare"')

  // As printed, in an empty folder, with nothing to install from but the service.
  const [writing, running] = readCommands(page)
  const folder = await temporaryDirectory()
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_audit: 'false',
  }
  for (const line of writing!) await promisify(execFile)('bash', ['-c', line], { cwd: folder, env })
  expect(running).toEqual(['cd my-app', 'npm install', 'npm run dev'])
  const settings = Object.fromEntries(
    (await readFile(join(folder, 'my-app/.env'), 'utf8'))
      .split('\n')
      .map((line) => line.split('=') as [string, string]),
  )
  // The issuer is the one that the API names.
  expect(settings).toMatchObject({
    VITE_APPS: `http://localhost:${service.port}/apps/v1`,
    VITE_ISSUER: `http://localhost:${service.port}/auth/v1/oauth`,
  })
  // What the page does in a browser: test/verify/install/own-page.test.ts runs Vite.
  const token = await signInAt(browser, settings as Record<string, string>)
  const code = `import { createClient } from '@member-apps/sdk'
    const api = createClient({ apps: ${JSON.stringify(settings.VITE_APPS)}, tokens: ${JSON.stringify(token)} })
    console.log((await api.me.profile()).firstName)`
  const called = run(['--input-type=module', '--eval', code], {}, { cwd: folder })
  expect(await called.ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\w+\n$/) })
  await service.stop()
})

/** A token of the written page's client, for a member of the test club. */
async function signInAt(browser: Browser, { VITE_ISSUER: issuer, VITE_CLIENT_ID: client }: Record<string, string>) {
  const redirect = 'http://localhost:5173/'
  const verifier = 'v'.repeat(43)
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(verifier))
  const asked = new URLSearchParams({
    client_id: client!,
    redirect_uri: redirect,
    response_type: 'code',
    scope: scopes.join(' '),
    code_challenge: Buffer.from(digest).toString('base64url'),
    code_challenge_method: 'S256',
  })
  const consent = await browser.open(`${issuer}/authorize?${asked}`)
  const [, organisation] = /name="organisation" value="([^"]+)"/.exec(consent.text) ?? []
  const fields = { organisation: organisation!, scope: scopes, decision: 'allow' }
  const allowed = await browser.submit(consent, 'consent', fields)
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: allowed.location!.searchParams.get('code')!,
      redirect_uri: redirect,
      client_id: client!,
      code_verifier: verifier,
    }),
  })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { access_token: string }).access_token
}
