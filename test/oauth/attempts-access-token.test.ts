import type { JWTPayload } from 'jose'
import { decodeJwt, importJWK, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { readKeys } from '../../server/oauth/keys/signing-key-store.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { id } from '../support/tenant.ts'
import { authWorld, register } from './auth-world.ts'

const scope = 'svc.me.profile:read'
const development = 'urn:member-apps-api:development'

const auth = authWorld()
let token: string
let claims: JWTPayload
let sign: (claims: JWTPayload, header?: object) => Promise<string>
let other: { member: string; club: string; client: string }
beforeAll(async () => {
  const { db, ids, secretsKeys } = auth.world
  token = (await auth.toTokens({ client: auth.client, scope }, ids.member, ids.club)).access_token
  claims = decodeJwt(token)
  const key = (await readKeys({ db, cipher: createCipher(secretsKeys) })).find(({ jwk }) => jwk)!
  const own = await importJWK(key.jwk!, 'ES256')
  sign = (payload, header = {}) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header }).sign(own)
  other = { member: id('other'), club: id('other'), client: await register(auth.world) }
  await db.person.create({ data: { id: other.member, firstName: 'O', lastName: 'P', email: 'o@example.org' } })
  await db.organisation.create({ data: { id: other.club, kind: 'club', name: 'Other' } })
  await db.membership.createMany({
    data: [other.club, ids.club].map((organisationId) => ({ organisationId, personId: other.member })),
  })
  await db.membership.create({ data: { organisationId: other.club, personId: ids.member } })
})

const answerTo = (given: string) => auth.world.call('GET', '/me/profile', { token: given })

describe('an access token', () => {
  it('of the authorization server is accepted beside one of the development key', async () => {
    expect((await answerTo(token)).status).toBe(200)
    expect((await answerTo(await sign(claims))).status).toBe(200)
    expect((await answerTo(await auth.world.token())).status).toBe(200)
  })

  it.each<[string, () => Promise<string>]>([
    ['of the development key in the name of the authorization server', () => auth.world.token({ ...claims })],
    ['of the authorization server in the name of the development key', () => sign({ ...claims, iss: development })],
    ['of an unknown issuer', () => sign({ ...claims, iss: 'https://evil.example' })],
    ['for another API', () => sign({ ...claims, aud: 'https://other.example' })],
    ['without a consent', () => sign({ ...claims, gid: undefined })],
    ['of an unknown consent', () => sign({ ...claims, gid: 'unknown' })],
    ['of a consent with a NUL', () => sign({ ...claims, gid: 'a\0b' })],
    ['of a consent that is not a string', () => sign({ ...claims, gid: [claims.gid] })],
    ['of another member with this consent', () => sign({ ...claims, sub: other.member })],
    ['for another club with this consent', () => sign({ ...claims, organisation: other.club })],
    ['of another client with this consent', () => sign({ ...claims, client_id: other.client })],
  ])('%s returns 401', async (_, forged) => {
    const { status, body } = await answerTo(await forged())
    expect([status, body.error.code]).toEqual([401, 'invalid_token'])
  })
})
