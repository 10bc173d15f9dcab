import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { createLocalJWKSet, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { createOnceFile } from '../secrets/private-file.ts'
import { AUDIENCE } from './audience.ts'
import { readPrincipal } from './claims.ts'
import type { TrustedIssuer } from './verify.ts'

/** Does not depend on ports or base URLs, so a token is valid wherever its key is. */
const ISSUER = 'urn:member-apps-api:development'
const ALGORITHM = 'ES256'

/** The private JWK that signs development tokens; created in the data directory on first use. */
export async function developmentKey(dataDir: string): Promise<JWK> {
  const text = await createOnceFile(dataDir, 'development-key.json', async () => {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    return JSON.stringify({ ...(await exportJWK(privateKey)), alg: ALGORITHM, kid: randomUUID() })
  })
  return JSON.parse(text)
}

export function developmentIssuer({ d: _private, ...publicKey }: JWK): TrustedIssuer {
  return {
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: createLocalJWKSet({ keys: [publicKey] }),
    toPrincipal: readPrincipal,
  }
}

export interface TokenClaims {
  /** Null for a first-party client acting for itself. */
  member: string | null
  organisation: string
  client: string
  scope: string
  expiresInSeconds: number
}

/** Signs an access token (RFC 9068) with the development key. */
export async function mintToken(key: JWK, { member, organisation, client, scope, expiresInSeconds }: TokenClaims) {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ organisation, client_id: client, scope, ...(member !== null && { sub: member }) })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: key.kid! })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + expiresInSeconds)
    .setJti(randomUUID())
    .sign(await importJWK(key, ALGORITHM))
}
