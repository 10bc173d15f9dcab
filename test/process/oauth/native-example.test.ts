import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { Page } from '../../oauth/browser.ts'
import { actionOf, Browser } from '../../oauth/browser.ts'
import { command, dataDirectoryWithCluster, freePort, run, start } from '../service.ts'

const example = join(import.meta.dirname, '../../../examples/native/sign-in.js')

it('the native example signs a member in, on any port', async () => {
  const port = String(await freePort())
  // Node asks the system for names under localhost, and not every system knows them.
  const env = { DATA_DIR: await dataDirectoryWithCluster(), PORT: port, AUTH_BASE_URL: `http://localhost:${port}/v1` }
  const service = await start(env)

  const scope = 'svc.me.profile:read'
  const registered = ['add', '--id', 'my-cli', '--name', 'My CLI', '--type', 'native', '--team', 'builders']
  const more = ['--app', 'trainer-app', '--redirect', 'http://127.0.0.1/', '--scope', scope]
  expect(await command('client', [...registered, ...more], env).ended).toMatchObject({ code: 0 })
  const issuer = `${env.AUTH_BASE_URL}/oauth`
  const program = run([example, 'my-cli'], { ISSUER: issuer })
  await expect.poll(program.stderr).toMatch(/^Open this address in your browser:\n\S+\n$/)
  const address = new URL(program.stderr().split('\n')[1]!)
  const redirect = address.searchParams.get('redirect_uri')!
  // Not from this sign-in.
  expect((await fetch(`${redirect}?code=stolen&state=guessed&iss=${issuer}`)).status).toBe(404)

  const browser = new Browser(Number(address.port))
  const follow = async (page: Page) => {
    let here = page
    while (here.location?.origin === address.origin) here = await browser.get(here.location)
    return here
  }
  const submit = async (page: Page, step: string, fields: Record<string, string>) =>
    follow(await browser.post(new URL(`${actionOf(page)}/${step}`, page.url), fields))
  const consent = await submit(await follow(await browser.get(address)), 'pick', { member: 'anna' })
  const allowed = await submit(consent, 'consent', { organisation: 'riverside', scope, decision: 'allow' })
  expect(await (await fetch(allowed.location!)).text()).toBe('Done: go back to the program.')
  const { code, stdout } = await program.ended
  expect([code, decodeJwt(stdout.trim())]).toMatchObject([0, { sub: 'anna', client_id: 'my-cli', scope }])
  await service.stop()
})
