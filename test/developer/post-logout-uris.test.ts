import { expect, it } from 'vitest'
import { redirect, teamWorld } from './team-world.ts'

const here = teamWorld()
const as = () => here.as(here.owner)

it('a client returns after a sign-out to hosts of its redirect URIs alone, without waiting', async () => {
  const client = await here.production({ redirectUris: [redirect], scopes: ['openid'], idTokenAlgorithm: 'ES256' })
  const update = (version: number, postLogoutRedirectUris: string[]) =>
    as().clients.update({ client, version, postLogoutRedirectUris })
  const uris = ['https://app.example/bye', 'https://app.example/']
  expect(await update(0, [...uris, uris[0]!])).toMatchObject({ postLogoutRedirectUris: uris, wanted: null })
  for (const [uri, sentence] of [
    ['https://evil.example/bye', 'https://evil.example/bye is at the host of none of the redirect URIs.'],
    ['https://app.example:8443/', 'https://app.example:8443/ is at the host of none of the redirect URIs.'],
    ['http://app.example/', 'http:// is for 127.0.0.1, [::1] and localhost only'],
    ['javascript:alert(1)', 'a web client must use https://'],
  ] as const) {
    await expect(update(1, [uri])).rejects.toThrow(sentence)
  }
  const long = Array.from({ length: 33 }, (_, n) => `https://app.example/${n}`.padEnd(2_048, 'x'))
  await expect(update(1, long)).rejects.toThrow('The redirect URIs after sign-out can have at most 64 KiB together.')
  const { items } = await as().audit.list({ team: here.world.ids.team })
  expect(items[0]).toMatchObject({ action: 'client.update', after: { postLogoutRedirectUris: uris } })
  expect(await update(1, [])).toMatchObject({ postLogoutRedirectUris: [] })
})

it('a production client takes over where a sign-out returns to, but for development', async () => {
  const redirectUris = [redirect, 'http://localhost:5173/']
  const { id: client } = await here.sandbox({ redirectUris, scopes: ['openid'], idTokenAlgorithm: 'ES256' })
  const postLogoutRedirectUris = ['https://app.example/bye', 'http://localhost:5173/bye']
  await as().clients.update({ client, version: 0, postLogoutRedirectUris })
  const purpose = { openid: 'It knows who plays.' }
  const made = await as().clients.requestProduction({ client, purpose, redirectUris: [redirect] })
  expect(made.postLogoutRedirectUris).toEqual(['https://app.example/bye'])
})
