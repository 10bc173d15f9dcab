import { expect, it } from 'vitest'
import { emptyDatabase } from '../support/databases.ts'
import { asAnna, command, dataDirectory, start } from './service.ts'

it('a service accepts the tokens that the token command printed before its first start', {
  timeout: 60_000,
}, async () => {
  const DATA_DIR = await dataDirectory()
  const tokenWith = async (...more: string[]) => {
    const args = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app', ...more]
    const { code, stdout, stderr } = await command('token', args, { DATA_DIR }).ended
    expect([code, stderr]).toEqual([0, ''])
    return stdout.trimEnd()
  }
  const token = await tokenWith()

  const DATABASE_URL = await emptyDatabase()
  await command('seed', [], { DATA_DIR, DATABASE_URL }).ended
  const service = await start({ DATA_DIR, DATABASE_URL })
  expect(await asAnna(service, 'GET', '/me/profile', undefined, token)).toMatchObject({
    status: 200,
    body: { id: 'anna' },
  })
  const reading = await tokenWith('--scope', 'svc.me.profile:read')
  const refused = await asAnna(service, 'GET', '/me/groups', undefined, reading)
  expect([refused.status, refused.body]).toEqual([
    403,
    { detail: 'This token does not carry the svc.me.groups:read scope.' },
  ])
  const expired = await tokenWith('--expires-in=-1')
  const late = await asAnna(service, 'GET', '/me/profile', undefined, expired)
  expect([late.status, late.body.error.message]).toEqual([401, 'This token has expired.'])
  await service.stop()
})
