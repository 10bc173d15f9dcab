import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import { api } from './openid-world.ts'

const auth = authWorld()
const hosts = ['127.0.0.1', '[::1]', 'localhost']

const pageFor = (client: string, redirectUri: string) =>
  auth.newBrowser().open(auth.authorizeUrl({ client, scope: api, redirectUri }).url)
const isAccepted = async (client: string, uri: string) => (await pageFor(client, uri)).text.includes('name="member"')
const logout = (client: string, uri: string) =>
  auth
    .newBrowser()
    .get(`${issuer}/end-session?${new URLSearchParams({ client_id: client, post_logout_redirect_uri: uri })}`)

describe.each(hosts)('a native client with a redirect to %s', (host) => {
  it.each(['', ':8400'])('gets tokens at any port when it is registered with the port %j', async (port) => {
    const uri = `http://${host}${port}/cb`
    const client = await register(auth.world, { type: 'native', redirectUris: [uri] })
    for (const asked of [uri, `http://${host}:51234/cb`, `http://${host}:1/cb`]) {
      const { member, club } = auth.world.ids
      const tokens = await auth.toTokens({ client, scope: api, redirectUri: asked }, member, club)
      expect(tokens.scope).toBe(api)
    }
  })

  it('returns to any port after a sign-out, and to no other path or host', async () => {
    const client = await register(auth.world, {
      type: 'native',
      redirectUris: [`http://${host}/cb`],
      postLogoutRedirectUris: [`http://${host}/bye`],
    })
    for (const port of ['', ':51234']) {
      expect((await logout(client, `http://${host}${port}/bye`)).location?.href).toBe(`http://${host}${port}/bye`)
    }
    for (const wrong of [
      '/',
      '/bye/x',
      ':1.example/bye',
      ':51234',
      ':99999999/bye',
      ':99999/bye',
      ':x@evil.example/bye',
    ]) {
      expect((await logout(client, `http://${host}${wrong}`)).status).toBe(400)
    }
  })
})

it('a web client has the port that it has registered', async () => {
  const uri = 'http://127.0.0.1:5173/cb'
  const client = await register(auth.world, { redirectUris: [uri], postLogoutRedirectUris: [uri] })
  expect(await isAccepted(client, uri)).toBe(true)
  expect(await isAccepted(client, 'http://127.0.0.1:5174/cb')).toBe(false)
  expect((await logout(client, uri)).status).toBe(303)
  expect((await logout(client, 'http://127.0.0.1:5174/cb')).status).toBe(400)
})

it('only the port of a native client may differ', async () => {
  const client = await register(auth.world, { type: 'native', redirectUris: hosts.map((host) => `http://${host}/cb`) })
  const address = fc.tuple(
    fc.constantFrom('http', 'https', 'ftp'),
    fc.constantFrom(...hosts, 'a.localhost', '127.0.0.2', 'localhost.example', '0.0.0.0'),
    fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }),
    fc.constantFrom('/cb', '/cb/', '/', '/cb?x=1', '/CB'),
  )
  await fc.assert(
    fc.asyncProperty(address, async ([scheme, host, port, path]) => {
      auth.world.advance(1)
      const expected = scheme === 'http' && hosts.includes(host) && path === '/cb'
      const uri = `${scheme}://${host}${port === undefined ? '' : `:${port}`}${path}`
      expect([uri, await isAccepted(client, uri)]).toEqual([uri, expected])
    }),
    { numRuns: times(300, 40), seed },
  )
})
