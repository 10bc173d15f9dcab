import type { IncomingMessage } from 'node:http'
import { generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Authenticate } from '../../server/tokens/authenticate.ts'
import { createAuthenticate } from '../../server/tokens/authenticate.ts'
import { principalOf } from '../../server/tokens/claims.ts'

const [issuer, audience] = ['https://issuer.example', 'https://apps.example']
let token: string
let authenticate: Authenticate
let verifications = 0

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  token = await new SignJWT({ organisation: 'club', client_id: 'app', scope: 'a b' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setSubject('member')
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime('1 h')
    .sign(privateKey)
  const keys = async () => {
    verifications++
    return publicKey
  }
  authenticate = createAuthenticate([{ keys, issuer, audience, principalOf }], Date.now)
})

/** As Node reads it: `headers` has the first of several. */
const request = (...sent: string[]) => {
  const rawHeaders = sent.flatMap((value) => ['Authorization', value])
  return { headers: { authorization: sent[0] }, rawHeaders } as IncomingMessage
}

async function verificationsOf(authorization: string): Promise<number> {
  const before = verifications
  for (let time = 0; time < 3; time++) {
    expect((await authenticate(request(authorization))).member, authorization).toBe('member')
  }
  return verifications - before
}

describe('a bearer token', () => {
  it('is verified once, whatever the case of the scheme and the spaces after it', async () => {
    expect(await verificationsOf(`Bearer ${token}`)).toBe(1)
    expect(await verificationsOf(`bearer ${token}`)).toBe(0)
    expect(await verificationsOf(`Bearer  ${token}`)).toBe(0)
  })

  it('is not cached when it is padded, as padding has endless spellings', async () => {
    expect(await verificationsOf(`Bearer ${token}==`)).toBe(3)
  })

  it('throws 401 when it is sent twice', async () => {
    await expect(authenticate(request(`Bearer ${token}`, `Bearer ${token}`))).rejects.toMatchObject({ status: 401 })
  })
})
