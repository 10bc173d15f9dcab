import { expect, it } from 'vitest'
import { emptyDatabase } from '../support/databases.ts'
import { asAnna, command, dataDirectory, start } from './service.ts'

it('a service accepts the token that the token command printed before its first start', async () => {
  const DATA_DIR = await dataDirectory()
  const args = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app']
  const { code, stdout, stderr } = await command('token', args, { DATA_DIR }).ended
  expect([code, stderr]).toEqual([0, ''])

  const DATABASE_URL = await emptyDatabase()
  await command('seed', [], { DATA_DIR, DATABASE_URL }).ended
  const service = await start({ DATA_DIR, DATABASE_URL })
  expect(await asAnna(service, 'GET', '/me/profile', undefined, stdout.trimEnd())).toMatchObject({
    status: 200,
    body: { id: 'anna' },
  })
  await service.stop()
})
