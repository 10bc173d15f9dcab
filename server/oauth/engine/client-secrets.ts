import type { Provider } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { instant, statement, text } from '../../../prisma/pg/statement.ts'
import { matchesSecret, newClientSecret } from '../../../routers/developer/secrets/client-secret.ts'

/** A use is noted at most once in this time. */
const NOTED_MS = 3_600_000

/** Times are in Unix milliseconds. A first-party client's secret does not expire, and its use is not noted. */
interface StoredSecret {
  hash: string
  expiresAt?: number
  noted?: { id: string; lastUsedAt: number | undefined }
}

/** Client metadata: the secrets, expired ones included. */
export const SECRETS = 'secrets'

/** oidc-provider requires a secret: of a client without any, which nobody can know. */
const NONE = newClientSecret()

/** The metadata of a client that has these secrets. Both ways to send one are accepted. */
export const withSecrets = (secrets: readonly StoredSecret[]) => ({
  token_endpoint_auth_method: 'client_secret_basic' as const,
  client_secret: secrets.map(({ hash }) => hash).join(' ') || NONE,
  [SECRETS]: secrets,
})

/** The valid secret of a client's metadata that `secret` is, compared by its hash. */
export const validSecret = (client: object, secret: string, now: number): StoredSecret | undefined =>
  (client as { [SECRETS]?: readonly StoredSecret[] })[SECRETS]?.find(
    ({ hash, expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > now && matchesSecret(hash, secret),
  )

/** A secret of a team's client; its times are in Unix milliseconds. */
export interface SecretRow {
  id: string
  hash: string
  expiresAt: number
  lastUsedAt: number | null
}

export const storedSecret = ({ id, hash, expiresAt, lastUsedAt }: SecretRow): StoredSecret => ({
  hash,
  expiresAt,
  noted: { id, lastUsedAt: lastUsedAt ?? undefined },
})

const noteUse = statement(
  'client_secret_use',
  `UPDATE "ClientSecret" SET "lastUsedAt" = $at::timestamptz WHERE id = $id`,
  { id: text, at: instant },
  {},
)

/** Compares secrets by their hash. The method is public for this purpose (oidc-provider, discussion 1410). */
export function compareHashedSecrets({ Client }: Provider, db: Database, now: () => number) {
  Client.prototype.compareClientSecret = function compareClientSecret(secret) {
    const at = now()
    const used = validSecret(this, secret, at)
    // The response does not wait for it, and a use that cannot be noted is no reason to refuse it.
    if (used?.noted && at - (used.noted.lastUsedAt ?? 0) >= NOTED_MS) {
      db.execute(noteUse, { id: used.noted.id, at }).catch(() => {})
    }
    return used !== undefined
  }
}
