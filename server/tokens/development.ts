import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { createLocalJWKSet, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { createOnceFile } from '../secrets/private-file.ts'
import { AUDIENCE } from './audience.ts'
import type { TokenRules } from './verify.ts'

/** It depends on no port and no base URL, so a token works wherever its key is. */
const ISSUER = 'urn:member-apps-api:development'
const ALGORITHM = 'ES256'

/** The key that signs tokens where no outside issuer is configured: a private JWK, kept in the data directory. */
export async function developmentKey(dataDir: string): Promise<JWK> {
  const text = await createOnceFile(dataDir, 'development-key.json', async () => {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    return JSON.stringify({ ...(await exportJWK(privateKey)), alg: ALGORITHM, kid: randomUUID() })
  })
  return JSON.parse(text)
}

export function developmentRules({ d: _private, ...publicKey }: JWK): TokenRules {
  return { keys: createLocalJWKSet({ keys: [publicKey] }), issuer: ISSUER, audience: AUDIENCE }
}

export interface TokenClaims {
  /** Null: for a first-party client on its own behalf. */
  member: string | null
  organisation: string
  client: string
  scope: string
  expiresInSeconds: number
}

/** An access token (RFC 9068). */
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
