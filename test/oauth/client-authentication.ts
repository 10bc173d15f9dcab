import { randomUUID } from 'node:crypto'
import type { CryptoKey } from 'jose'
import { SignJWT } from 'jose'
import { hashOfSecret } from '../../routers/developer/secrets/client-secret.ts'
import type { World } from '../support/world.ts'
import { issuer } from './auth-world.ts'

const DAY_MS = 86_400_000

/** Stores a secret of a client that ends in so many days; returns its id. */
export async function storeSecret({ db, now }: World, clientId: string, secret: string, days = 1): Promise<string> {
  const expiresAt = new Date(now() * 1000 + days * DAY_MS)
  const createdAt = new Date(expiresAt.getTime() - 90 * DAY_MS)
  const data = { id: randomUUID(), clientId, hash: hashOfSecret(secret), createdAt, expiresAt }
  return (await db.clientSecret.create({ data })).id
}

/** The header of client_secret_basic. */
export const basic = (client: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(client)}:${secret}`).toString('base64')}`,
})

/** The fields of private_key_jwt. */
export async function signAssertion(
  client: string,
  key: CryptoKey | Uint8Array,
  claims: object = {},
  header: object = {},
) {
  const now = Math.floor(Date.now() / 1000)
  const payload = { iss: client, sub: client, aud: `${issuer}/token`, exp: now + 60, jti: randomUUID(), ...claims }
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', ...header }).sign(key),
  }
}
