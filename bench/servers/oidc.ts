import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import type { Adapter, AdapterPayload, Client } from 'oidc-provider'
import pg from 'pg'
import { Provider } from '../../server/oauth/engine/oidc-provider.ts'
import { AUDIENCE } from '../../server/tokens/audience.ts'
import { SCOPE } from '../routes/tokens.ts'

/** The baseline of the token endpoint: oidc-provider as documented, on pg, with the statements that the service needs. */
const { DATABASE_URL, PORT } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' })
const run = async (name: string, text: string, values: unknown[]) => (await pool.query({ name, text, values })).rows

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

const clients: Pick<Adapter, 'find'> = {
  async find(id) {
    const [client] = await run(
      'client',
      `SELECT "redirectUris", authentication, (SELECT json_agg(hash) FROM "ClientSecret"
          WHERE "clientId" = "Client".id AND "expiresAt" > now()) AS secrets
        FROM "Client" JOIN "Team" ON "Team".id = "teamId" JOIN "App" ON "App".id = "appId" WHERE "Client".id = $1`,
      [id],
    )
    if (!client) return undefined
    const isPublic = client.authentication === 'none'
    return {
      client_id: id,
      redirect_uris: client.redirectUris,
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic',
      ...(!isPublic && { client_secret: client.secrets[0] }),
    }
  },
}

function records(model: string): Partial<Adapter> {
  const key = (id: string) => (model === 'Grant' ? id : sha256(id))
  return {
    async find(id) {
      const [row] = await run(
        'find',
        `SELECT payload, "consumedAt" FROM "OauthRecord" WHERE model = $1 AND id = $2 AND "expiresAt" > now()`,
        [model, key(id)],
      )
      return row && { ...row.payload, jti: id, ...(row.consumedAt && { consumed: true }) }
    },
    async upsert(id, { jti: _id, ...payload }: AdapterPayload, seconds) {
      await run(
        'upsert',
        `INSERT INTO "OauthRecord" (model, id, payload, "grantId", "expiresAt")
          VALUES ($1, $2, $3, $4, now() + $5 * interval '1 second')
          ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, "expiresAt" = excluded."expiresAt"`,
        [model, key(id), payload, payload.grantId, seconds],
      )
    },
    async consume(id) {
      await run('consume', `UPDATE "OauthRecord" SET "consumedAt" = now() WHERE model = $1 AND id = $2`, [
        model,
        key(id),
      ])
    },
  }
}

const findConsent = async (column: string, id: string) => {
  const [consent] = await run(
    column,
    `SELECT "organisationId" FROM "Consent" JOIN "Membership" USING ("organisationId", "personId")
      WHERE "Consent"."${column}" = $1 AND "withdrawnAt" IS NULL AND "leftAt" IS NULL LIMIT 1`,
    [id],
  )
  return consent.organisationId as string
}

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const provider = new Provider('http://auth.localhost/v1/oauth', {
  adapter: (model: string) => (model === 'Client' ? clients : records(model)) as Adapter,
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'key' }] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  pkce: { required: () => true },
  routes: { token: '/v1/oauth/token' },
  async findAccount({ oidc }, accountId, token) {
    if (token) oidc.entity('Organisation', await findConsent('id', (token as { grantId: string }).grantId))
    return { accountId, claims: () => ({ sub: accountId }) }
  },
  extraTokenClaims: async ({ oidc }, token) => ({
    organisation:
      token.kind === 'ClientCredentials'
        ? await findConsent('clientId', token.clientId!)
        : (oidc.entities as { Organisation?: string }).Organisation,
  }),
  issueRefreshToken: () => true,
  expiresWithSession: () => false,
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: SCOPE,
        audience: AUDIENCE,
        accessTokenTTL: 900,
        accessTokenFormat: 'jwt' as const,
        jwt: { sign: { alg: 'ES256' as const } },
      }),
    },
  },
})
provider.Client.prototype.compareClientSecret = function compare(this: Client, secret: string) {
  return timingSafeEqual(Buffer.from(sha256(secret)), Buffer.from(this.clientSecret!))
}
createServer(provider.callback()).listen(Number(PORT))
