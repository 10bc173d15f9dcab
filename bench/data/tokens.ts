import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { importJWK, SignJWT } from 'jose'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { AUDIENCE } from '../../server/tokens/audience.ts'
import { mintToken } from '../../server/tokens/development.ts'
import type { Tenant } from '../routes/route.ts'
import { PEOPLE } from './people.ts'
import { TENANTS } from './rows.ts'

/** All services of the bench share it. */
export const SECRETS_KEY = Buffer.alloc(32)
export const ISSUER = 'http://auth.localhost/v1/oauth'

const SECONDS = 36_000

/** Makes the service sign with the key that signs the bench's tokens. */
export function signingKeyRow(key: JWK): string {
  const kid = key.kid!
  const text = JSON.stringify({ ...key, use: 'sig' })
  const ciphertext = createCipher([SECRETS_KEY]).encrypt(text, associatedData.signingKey(kid))
  return `INSERT INTO "SigningKey" (kid, ciphertext, "signsFrom") VALUES ('${kid}', '${ciphertext}', now())`
}

export async function mintTokens(key: JWK) {
  const claims = { member: 'member', scope: memberScopes.join(' '), expiresInSeconds: SECONDS }
  const tokensFor = (organisation: string) =>
    Promise.all(
      Array.from({ length: TENANTS }, async (_, i) => {
        const app = `tenant-${i}`
        const token = await mintToken(key, { ...claims, organisation, client: app })
        return { token, app, club: organisation, member: 'member' }
      }),
    )
  const [tenants, learners, developers] = await Promise.all(['club', 'academy', 'provider'].map(tokensFor))
  return { tenants: tenants!, learners: learners!, developers: developers!, people: await mintOfPeople(key) }
}

/** Tokens as the authorization server issues them, for a consent of each person. */
async function mintOfPeople(key: JWK): Promise<Tenant[]> {
  const [privateKey, now] = [await importJWK(key, 'ES256'), Math.floor(Date.now() / 1000)]
  return Promise.all(
    PEOPLE.map(async ({ id, team }, n) => {
      const [app, club] = [`${team}-web`, 'town']
      const token = await new SignJWT({
        organisation: club,
        client_id: app,
        scope: 'openid profile email',
        gid: `${club}-${n}-0`,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid! })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(id)
        .setIssuedAt(now)
        .setExpirationTime(now + SECONDS)
        .setJti(randomUUID())
        .sign(privateKey)
      return { token, app, club, member: id }
    }),
  )
}
