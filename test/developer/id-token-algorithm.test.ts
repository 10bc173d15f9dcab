import { expect, it, onTestFinished } from 'vitest'
import { redirect, teamWorld } from './team-world.ts'

const here = teamWorld()
const as = () => here.as(here.owner)
/** A client with RS256 lets every service of the database make a key. */
const afterwards = (id: string) =>
  onTestFinished(
    async () => void (await here.world.db.client.update({ where: { id }, data: { idTokenAlgorithm: 'ES256' } })),
  )

it('a client chooses how its ID tokens are signed without waiting, among ES256 and RS256', async () => {
  const client = await here.production({ redirectUris: [redirect], scopes: ['openid'] })
  afterwards(client)
  const before = await as().clients.get({ client })
  expect(before.idTokenAlgorithm).toBe('RS256')
  for (const idTokenAlgorithm of ['HS256', 'none', '']) {
    const wrong = as().clients.update({ client, version: 0, idTokenAlgorithm: idTokenAlgorithm as 'ES256' })
    await expect(wrong).rejects.toThrow('idTokenAlgorithm is ES256 or RS256.')
  }
  expect(await as().clients.get({ client })).toEqual(before)
  const changed = await as().clients.update({ client, version: 0, idTokenAlgorithm: 'ES256' })
  expect(changed).toMatchObject({ idTokenAlgorithm: 'ES256', wanted: null, version: 1 })
  const { items } = await as().audit.list({ team: here.world.ids.team })
  expect(items[0]).toMatchObject({
    action: 'client.update',
    target: client,
    before: { idTokenAlgorithm: 'RS256' },
    after: { idTokenAlgorithm: 'ES256' },
  })
})

it('a production client takes over how the ID tokens of its sandbox client are signed', async () => {
  const { id: client } = await here.sandbox({ redirectUris: [redirect], scopes: ['openid'] })
  afterwards(client)
  await as().clients.update({ client, version: 0, idTokenAlgorithm: 'ES256' })
  const made = await as().clients.requestProduction({ client, purpose: { openid: 'It knows who plays.' } })
  afterwards(made.id)
  expect(made.idTokenAlgorithm).toBe('ES256')
})

it('a new client has RS256 with openid, and ES256 without, unless it chooses', async () => {
  const profile = 'svc.me.profile:read'
  for (const [scopes, idTokenAlgorithm, expected] of [
    [['openid'], undefined, 'RS256'],
    [['openid', profile], 'ES256', 'ES256'],
    [[profile], undefined, 'ES256'],
    [[profile], 'RS256', 'RS256'],
  ] as const) {
    const made = await here.sandbox({ scopes: [...scopes], ...(idTokenAlgorithm && { idTokenAlgorithm }) })
    afterwards(made.id)
    expect(made.idTokenAlgorithm).toBe(expected)
  }
})

it('a client that adds openid gets RS256, unless it chooses at the same time', async () => {
  const profile = 'svc.me.profile:read'
  for (const [choice, expected] of [
    [{}, 'RS256'],
    [{ idTokenAlgorithm: 'ES256' }, 'ES256'],
  ] as const) {
    const { id: client } = await here.sandbox({ scopes: [profile] })
    afterwards(client)
    const changed = await as().clients.update({ client, version: 0, scopes: ['openid', profile], ...choice })
    expect(changed.idTokenAlgorithm).toBe(expected)
    const later = await as().clients.update({ client, version: 1, scopes: ['openid', profile], name: 'Other' })
    expect(later.idTokenAlgorithm).toBe(expected)
  }
})
