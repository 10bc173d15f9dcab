import { createHash } from 'node:crypto'
import { AUDIENCE } from '../../server/tokens/audience.ts'
import { TENANTS } from '../data/rows.ts'
import type { Request } from '../load/process.ts'

/** Requests to the token endpoint of each client in a round: each code and refresh token works once. */
const EACH = 40

const REDIRECT_URI = 'https://app.example/callback'
export const SCOPE = 'svc.me.profile:read svc.apps.storage:read'
/** All clients share it. */
const SECRET = 'a-secret-of-the-bench'
const VERIFIER = 'v'.repeat(43)

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')
const hashIn = (expression: string) =>
  `rtrim(translate(encode(sha256((${expression})::bytea), 'base64'), '+/', '-_'), '=')`

/** Public clients, and confidential ones with SECRET; a consent, and a grant, of the member to each public one. */
export const TOKEN_ROWS = `
  UPDATE "Client" SET "redirectUris" = '{${REDIRECT_URI}}', scopes = '{${SCOPE.replace(' ', ',')}}';
  INSERT INTO "Client" (id, name, "teamId", "appId", environment, "redirectUris", scopes, authentication)
    SELECT id || '-server', id, "teamId", "appId", environment, "redirectUris", scopes, 'client_secret' FROM "Client";
  INSERT INTO "ClientSecret" (id, "clientId", hash, "createdAt", "expiresAt", "lastUsedAt")
    SELECT id, id, '${sha256(SECRET)}', now(), now() + interval '1 day', now() FROM "Client"
    WHERE authentication = 'client_secret';
  INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
    SELECT 'grant-' || id, 'member', 'club', id, scopes FROM "Client";
  INSERT INTO "OauthRecord" (model, id, payload, "expiresAt")
    SELECT 'Grant', 'grant-' || id, jsonb_build_object('kind', 'Grant', 'jti', 'grant-' || id, 'clientId', id,
        'accountId', 'member', 'iat', extract(epoch FROM now())::int, 'exp', extract(epoch FROM now())::int + 86400,
        'resources', jsonb_build_object('${AUDIENCE}', '${SCOPE}')), now() + interval '1 day' FROM "Client"`

/** Fresh credentials for each request of a round. */
const refill = (model: string, more: string) => `
  DELETE FROM "OauthRecord" WHERE model NOT IN ('Grant', 'Session');
  INSERT INTO "OauthRecord" (model, id, payload, "grantId", "expiresAt")
    SELECT '${model}', ${hashIn(`'credential-' || n`)}, jsonb_build_object('kind', '${model}', 'scope', '${SCOPE}',
        'grantId', 'grant-' || client, 'clientId', client, 'accountId', 'member', 'resource', '${AUDIENCE}',
        'iat', extract(epoch FROM now())::int, 'exp', extract(epoch FROM now())::int + 600) || '${more}',
      'grant-' || client, now() + interval '10 minutes'
    FROM generate_series(0, ${TENANTS * EACH - 1}) n, LATERAL (SELECT 'tenant-' || n / ${EACH} AS client) c`

interface TokenRoute {
  target: number
  refill?: string
  /** The body's fields. */
  fields: (i: number, client: string) => Record<string, string>
  confidential?: true
}

/** Target: a multiple of oidc-provider alone with the same statements. */
const target = 1.25

export const tokenRoutes: Record<string, TokenRoute> = {
  'token-code': {
    target,
    refill: refill(
      'AuthorizationCode',
      JSON.stringify({ redirectUri: REDIRECT_URI, codeChallenge: sha256(VERIFIER), codeChallengeMethod: 'S256' }),
    ),
    fields: (i, client_id) => ({
      grant_type: 'authorization_code',
      client_id,
      code: `credential-${i}`,
      code_verifier: VERIFIER,
      redirect_uri: REDIRECT_URI,
    }),
  },
  'token-refresh': {
    target,
    refill: refill('RefreshToken', JSON.stringify({ gty: 'authorization_code', rotations: 0 })),
    fields: (i, client_id) => ({ grant_type: 'refresh_token', client_id, refresh_token: `credential-${i}` }),
  },
  'token-app': {
    target,
    confidential: true,
    fields: () => ({ grant_type: 'client_credentials', organisation: 'club', scope: 'svc.apps.storage:read' }),
  },
}

export const TOKEN_REQUESTS = TENANTS * EACH

/** In an order that spreads a client's requests over a round. */
export function tokenRequests(name: string): Request[] {
  const { fields, confidential } = tokenRoutes[name]!
  const order = Array.from({ length: TOKEN_REQUESTS }, (_, i) => (i % TENANTS) * EACH + Math.floor(i / TENANTS))
  return order.map((i) => {
    const client = `tenant-${Math.floor(i / EACH)}`
    const body = new URLSearchParams(fields(i, client)).toString()
    const basic = Buffer.from(`${client}-server:${SECRET}`).toString('base64')
    const headers = {
      host: 'auth.localhost',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
      ...(confidential && { authorization: `Basic ${basic}` }),
    }
    return { method: 'POST', path: '/v1/oauth/token', headers, body }
  })
}
