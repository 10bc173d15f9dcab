import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { Browser } from '../oauth/browser.ts'
import { command, dataDirectoryWithCluster, start } from './service.ts'

const bash = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const sections = (await readFile(join(root, 'docs/apps.md'), 'utf8')).split('\n## ')
const [asking, polling] = [
  ...sections.find((text) => text.startsWith('Devices and'))!.matchAll(/```sh\n(.*?)```/gs),
].map(([, text]) => text!)

it('a device signs a member in by the lines of docs/apps.md', async () => {
  const env = { DATA_DIR: await dataDirectoryWithCluster() }
  const service = await start(env)
  const scope = 'svc.me.profile:read svc.me.groups:read'
  const registered = ['add', '--id', 'screen', '--name', 'Screen', '--team', 'builders', '--app', 'trainer-app']
  const added = await command('client', [...registered, '--devices', '--scope', scope], env).ended
  expect(added, added.stderr).toMatchObject({ code: 0 })
  const AUTH_BASE_URL = `http://auth.localhost:${service.port}/v1`
  const sh = async (line: string, more: Record<string, string> = {}) => {
    const own = { ...process.env, AUTH_BASE_URL, CLIENT_ID: 'screen', ...more }
    return JSON.parse((await bash('bash', ['-c', line.replaceAll('curl ', 'curl --silent ')], { env: own })).stdout)
  }
  const { device_code: DEVICE_CODE, user_code, verification_uri, ...more } = await sh(asking!)
  expect(more).toMatchObject({ expires_in: 600, interval: 5 })
  expect((await sh(polling!, { DEVICE_CODE })).error).toBe('authorization_pending')

  const browser = new Browser(service.port)
  const { location: request } = await browser.post(verification_uri, { user_code })
  await browser.post(`${request}/pick`, { member: 'anna' })
  expect((await browser.get(request!)).text).toContain(user_code)
  const fields = { organisation: 'riverside', scope: scope.split(' '), decision: 'allow' }
  const done = await browser.post(`${request}/consent`, fields)
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('The device is connected')])

  const { access_token, ...answer } = await sh(polling!, { DEVICE_CODE })
  expect(answer).toMatchObject({ expires_in: 900, token_type: 'Bearer', scope })
  const profile = await browser.get(`http://apps.localhost:${service.port}/v1/me/profile`, {
    authorization: `Bearer ${access_token}`,
  })
  expect([profile.status, profile.json]).toMatchObject([200, { id: 'anna' }])
  await service.stop()
})
