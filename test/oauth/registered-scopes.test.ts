import { expect, it } from 'vitest'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { authWorld, register } from './auth-world.ts'

const scope = 'svc.me.profile:read svc.me.groups:read'

const auth = authWorld()

const setScopes = async (client: string, scopes: string[]) => {
  await auth.world.db.client.update({ where: { id: client }, data: { scopes } })
  auth.world.advance(5)
}
const get = async (path: string, token: string) => {
  const { status, body } = await auth.world.call('GET', path, { token })
  return status === 200 ? status : [status, body.detail]
}

it('a scope that is taken from a client is refused within 5 s with tokens issued before, and given back works', async () => {
  const client = await register(auth.world)
  const { member, club } = auth.world.ids
  const { access_token: token, refresh_token } = await auth.toTokens({ client, scope }, member, club)
  expect([await get('/me/profile', token), await get('/me/groups', token)]).toEqual([200, 200])
  await setScopes(client, ['svc.me.groups:read'])
  const refused = [403, 'This token does not carry the svc.me.profile:read scope.']
  expect([await get('/me/profile', token), await get('/me/groups', token)]).toEqual([refused, 200])
  const renewed = await auth.refresh(client, refresh_token)
  expect(renewed.json.scope).toBe('svc.me.groups:read')
  await setScopes(client, memberScopes)
  expect(await get('/me/profile', token)).toBe(200)
})

it('a scope that is given to a client later is not in tokens issued before', async () => {
  const client = await register(auth.world, { scopes: ['svc.me.groups:read'] })
  const { member, club } = auth.world.ids
  const { access_token: token } = await auth.toTokens({ client, scope: 'svc.me.groups:read' }, member, club)
  await setScopes(client, memberScopes)
  expect(await get('/me/profile', token)).toEqual([403, 'This token does not carry the svc.me.profile:read scope.'])
})
