import { expect, it } from 'vitest'
import { asAnna, command, dataDirectory, start, until } from './service.ts'

it('client remove works beside a running service, which refuses the tokens of the client within 5 s', {
  timeout: 120_000,
}, async () => {
  const env = { DATA_DIR: await dataDirectory() }
  const service = await start(env)
  expect((await asAnna(service, 'GET', '/me/profile')).status).toBe(200)
  const remove = command('client', ['remove', '--id', 'trainer-app', '--yes'], env)
  expect(await remove.ended).toEqual({
    code: 0,
    signal: null,
    stdout: `To be removed: the client trainer-app, and 0 consents.
Its tokens are refused within 5 s. The app trainer-app and its stored entries stay.
Removed: trainer-app, 0 consents
`,
    stderr: '',
  })
  const statusOf = async () => (await asAnna(service, 'GET', '/me/profile')).status
  await until(statusOf, (status) => status === 401, 6_000)
  await service.stop()
})
