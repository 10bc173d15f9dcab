import type { Database } from '../../../prisma/client.ts'
import {
  bool,
  jsonArray,
  jsonStrings,
  listSql,
  nullable,
  oneOf,
  statement,
  text,
} from '../../../prisma/pg/statement.ts'
import { unixMs } from '../../../routers/kernel/time.ts'
import type { SecretRow } from './client-secrets.ts'

const list = (column: string) => `${listSql(`client."${column}"`)} AS "${column}"`

/** One statement instead of Prisma's four: a request for tokens reads its client each time. */
const readClient = statement(
  'oauth_client',
  `SELECT client.id, client.name, client.type, ${list('redirectUris')},
      ${list('postLogoutRedirectUris')}, ${list('scopes')},
      client."secretHash", client.authentication, client.jwks::text AS jwks, client.environment, client.state,
      client.devices, client."idTokenAlgorithm",
      team.level, team."endsAt" IS NOT NULL OR coalesce(app.state = 'suspended', false) AS stopped,
      CASE client.authentication WHEN 'client_secret' THEN (SELECT json_agg(json_build_object('id', secret.id,
          'hash', secret.hash, 'expiresAt', ${unixMs('secret."expiresAt"')}, 'lastUsedAt', ${unixMs('secret."lastUsedAt"')})
          ORDER BY secret.id) FROM "ClientSecret" secret WHERE secret."clientId" = client.id) END AS secrets
    FROM "Client" client LEFT JOIN "Team" team ON team.id = client."teamId" LEFT JOIN "App" app ON app.id = client."appId"
    WHERE client.id = $id`,
  { id: text },
  {
    id: text,
    name: text,
    type: oneOf('web', 'native'),
    redirectUris: jsonStrings,
    postLogoutRedirectUris: jsonStrings,
    scopes: jsonStrings,
    secretHash: nullable(text),
    authentication: oneOf('none', 'client_secret', 'private_key_jwt'),
    jwks: nullable(text),
    environment: oneOf('production', 'sandbox'),
    state: oneOf('active', 'requested'),
    devices: bool,
    idTokenAlgorithm: oneOf('ES256', 'RS256'),
    /** Null for a first-party client. */
    level: nullable(oneOf('hobby', 'developer')),
    /** Its app is suspended, or its team deleted. */
    stopped: bool,
    /** Null without any. */
    secrets: nullable(jsonArray<SecretRow>()),
  },
)

export async function registeredClient(db: Database, id: string) {
  const [client] = await db.execute(readClient, { id })
  return client && { ...client, jwks: client.jwks === null ? null : JSON.parse(client.jwks) }
}

export type RegisteredClient = NonNullable<Awaited<ReturnType<typeof registeredClient>>>
