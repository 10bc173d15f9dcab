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
  expect(before.idTokenAlgorithm).toBe('ES256')
  for (const idTokenAlgorithm of ['HS256', 'none', '']) {
    const wrong = as().clients.update({ client, version: 0, idTokenAlgorithm: idTokenAlgorithm as 'ES256' })
    await expect(wrong).rejects.toThrow('idTokenAlgorithm is ES256 or RS256.')
  }
  expect(await as().clients.get({ client })).toEqual(before)
  const changed = await as().clients.update({ client, version: 0, idTokenAlgorithm: 'RS256' })
  expect(changed).toMatchObject({ idTokenAlgorithm: 'RS256', wanted: null, version: 1 })
  const { items } = await as().audit.list({ team: here.world.ids.team })
  expect(items[0]).toMatchObject({
    ...{ action: 'client.update', target: client },
    ...{ before: { idTokenAlgorithm: 'ES256' }, after: { idTokenAlgorithm: 'RS256' } },
  })
})

it('a production client takes over how the ID tokens of its sandbox client are signed', async () => {
  const { id: client } = await here.sandbox({ redirectUris: [redirect], scopes: ['openid'] })
  afterwards(client)
  await as().clients.update({ client, version: 0, idTokenAlgorithm: 'RS256' })
  const made = await as().clients.requestProduction({ client, purpose: { openid: 'It knows who plays.' } })
  afterwards(made.id)
  expect(made.idTokenAlgorithm).toBe('RS256')
})
