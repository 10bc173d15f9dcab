import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { expect, it, onTestFinished } from 'vitest'
import { AUDIENCE, externalWorld } from './external-world.ts'
import { loopbackIssuer } from './loopback-issuer.ts'

/** An independent issuer: oidc-provider gives a client RFC 9068 access tokens for a resource. */
async function providerAt(alg: string, claims: () => Record<string, unknown>) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  const scope = 'svc.me.profile:read svc.apps.storage:read'
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'app',
        client_secret: 'app secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: alg as 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg, use: 'sig', kid: 'one' }] },
    extraTokenClaims: claims,
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, audience) => ({
          scope,
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: alg as 'ES256' } },
        }),
      },
    },
  })
  server.on('request', provider.callback())
  return {
    issuer,
    /** A token by client_credentials. */
    async token(resource: string): Promise<string> {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('app:app+secret').toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
      })
      expect(response.status).toBe(200)
      const { access_token: token } = (await response.json()) as { access_token: string }
      return token
    },
  }
}

it.each(['ES256', 'RS256'])('a token of oidc-provider as external issuer is accepted, %s', async (alg) => {
  let named = {}
  const provider = await providerAt(alg, () => named)
  const { issuer } = provider
  const claims = { member: 'member.id', organisation: 'https://example.org/club', client: 'app.id', scope: 'scope' }
  const { world, ask } = await externalWorld({ issuer: { ...(await loopbackIssuer()), issuer }, settings: { claims } })
  named = {
    member: { id: world.ids.member },
    'https://example.org/club': world.ids.club,
    app: { id: world.ids.client },
  }

  const token = await provider.token(AUDIENCE)
  const get = (path: string) => world.call('GET', path, { token })
  expect(await get('/me/profile')).toMatchObject({ status: 200, body: { id: world.ids.member } })
  expect(await get('/storage/notes')).toMatchObject({ status: 200, body: { total: 0 } })
  expect(await get('/me/groups')).toMatchObject({ status: 403 })
  expect(await ask(await provider.token('https://other.example.org'))).toMatchObject({ status: 401 })
  named = {}
  expect(await ask(await provider.token(AUDIENCE))).toMatchObject({ status: 401 })
})
