import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { revokeKey } from '../../server/oauth/keys/signing-key-store.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import { api, discover, everything, registerOpenid } from './openid-world.ts'

const auth = authWorld()

const scope = api
const signedIn = async () => {
  const client = await register(auth.world)
  const { member, club } = auth.world.ids
  return { client, ...(await auth.toTokens({ client, scope }, member, club)) }
}
const revoke = (fields: Record<string, string>) => auth.app.post(`${issuer}/revoke`, fields)
const isLive = async ({ client, refresh_token }: { client: string; refresh_token: string }) =>
  (await auth.refresh(client, refresh_token)).status === 200
const statusOf = async (token: string) => (await auth.world.call('GET', '/me/profile', { token })).status

describe('the revocation of an access token', () => {
  it.each([{}, { token_type_hint: 'access_token' }, { token_type_hint: 'refresh_token' }, { token_type_hint: 'x' }])(
    'with %j ends its grant, and no other',
    async (hint) => {
      const [one, other] = [await signedIn(), await signedIn()]
      const answer = await revoke({ client_id: one.client, token: one.access_token, ...(hint as object) })
      expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
        200,
        '{}',
        'application/json; charset=utf-8',
      ])
      auth.world.advance(5)
      expect([await statusOf(one.access_token), await isLive(one)]).toEqual([401, false])
      expect([await statusOf(other.access_token), await isLive(other)]).toEqual([200, true])
      expect((await revoke({ client_id: one.client, token: one.access_token })).status).toBe(200)
      const { gid } = decodeJwt(one.access_token)
      const consent = await auth.world.db.consent.findUniqueOrThrow({ where: { id: String(gid) } })
      expect([consent.withdrawnAt !== null, consent.replayedAt]).toEqual([true, null])
    },
  )

  it('that has expired ends its grant', async () => {
    const one = await signedIn()
    auth.world.advance(16 * 60)
    expect((await revoke({ client_id: one.client, token: one.access_token })).status).toBe(200)
    expect(await isLive(one)).toBe(false)
  })

  it('of another client ends nothing', async () => {
    const [one, other] = [await signedIn(), await signedIn()]
    expect((await revoke({ client_id: other.client, token: one.access_token })).status).toBe(200)
    auth.world.advance(5)
    expect([await statusOf(one.access_token), await isLive(one)]).toEqual([200, true])
  })

  it('that is unknown, forged, an ID token, or of a revoked key ends nothing, and is 200', async () => {
    const client = await registerOpenid(auth)
    const { member, club } = auth.world.ids
    const tokens = await auth.toTokens({ client, scope: everything }, member, club)
    const [header, payload] = tokens.access_token.split('.')
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
    for (const token of [
      ...[
        'text',
        'a.b.c',
        `${header}.${payload}.`,
        `${none}.${payload}.`,
        `${tokens.access_token.slice(0, -8)}AAAAAAAA`,
      ],
      ...[tokens.id_token, await auth.world.token({ client_id: client })],
    ]) {
      expect((await revoke({ client_id: client, token })).status).toBe(200)
    }
    const store = { db: auth.world.db, cipher: createCipher(auth.world.secretsKeys), now: auth.world.core.now }
    await revokeKey(store, decodeProtectedHeader(tokens.access_token).kid!)
    await auth.world.oauth!.reload()
    expect((await revoke({ client_id: client, token: tokens.access_token })).status).toBe(200)
    expect(await isLive({ client, ...tokens })).toBe(true)
  })

  it('needs a client, and a token', async () => {
    const one = await signedIn()
    for (const [fields, status] of [
      [{ token: one.access_token }, 400],
      [{ token: one.access_token, client_id: 'nobody' }, 401],
      [{ client_id: one.client }, 400],
    ] as const) {
      expect((await revoke(fields)).status).toBe(status)
    }
    expect(await isLive(one)).toBe(true)
  })

  it('works with openid-client', async () => {
    const one = await signedIn()
    await openid.tokenRevocation(await discover(auth, one.client), one.access_token)
    expect(await isLive(one)).toBe(false)
  })
})
