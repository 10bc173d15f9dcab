import { expect, it, onTestFinished } from 'vitest'
import { loopbackIssuer } from '../oauth/loopback-issuer.ts'
import { emptyDatabase } from '../support/databases.ts'
import { asAnna, command, dataDirectory, send, start, until } from './service.ts'

it('the service starts while its issuer is down, and trusts no other issuer', async () => {
  const issuer = await loopbackIssuer()
  onTestFinished(issuer.down)
  const env = {
    DATA_DIR: await dataDirectory(),
    DATABASE_URL: await emptyDatabase(),
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_AUDIENCE: 'urn:example',
  }
  await command('seed', [], env).ended
  const exp = Math.floor(Date.now() / 1000) + 3600
  const claims = { sub: 'anna', organisation: 'riverside', client_id: 'trainer-app', aud: 'urn:example', exp }
  const token = () => issuer.sign({ ...claims, scope: 'svc.me.profile:read', jti: crypto.randomUUID() })
  const profile = async (service: Awaited<ReturnType<typeof start>>) =>
    asAnna(service, 'GET', '/me/profile', undefined, await token())

  await issuer.down()
  const first = await start(env)
  expect(first.stdout()).not.toContain('curl')
  expect((await send(first.internalPort, 'GET', '/readyz')).status).toBe(503)
  expect((await send(first.internalPort, 'GET', '/healthz')).status).toBe(200)
  expect(await profile(first)).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })

  await issuer.up()
  const ready = async () => (await send(first.internalPort, 'GET', '/readyz')).status
  await until(ready, (status) => status === 200)
  expect(await profile(first)).toMatchObject({ status: 200, body: { id: 'anna' } })
  const own = await command('token', ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app'], {
    DATA_DIR: env.DATA_DIR,
  }).ended
  const development = await asAnna(first, 'GET', '/me/profile', undefined, own.stdout.trim())
  expect(development.status).toBe(401)
  expect(await first.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout()).not.toMatch(/eyJ/)
})
