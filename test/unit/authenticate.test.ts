import type { IncomingMessage } from 'node:http'
import { generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Authenticate } from '../../server/tokens/verify.ts'
import { authenticator } from '../../server/tokens/verify.ts'

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
  authenticate = authenticator([{ keys, issuer, audience }], Date.now)
})

async function verificationsOf(authorization: string): Promise<number> {
  const before = verifications
  const request = { headers: { authorization }, rawHeaders: ['Authorization', authorization] } as IncomingMessage
  for (let time = 0; time < 3; time++) expect((await authenticate(request)).member, authorization).toBe('member')
  return verifications - before
}

describe('a token', () => {
  it('is verified once', async () => {
    expect(await verificationsOf(`Bearer ${token}`)).toBe(1)
    expect(await verificationsOf(`bearer ${token}`)).toBe(1)
  })

  it('takes no place for each of its spellings, which are without end', async () => {
    expect(await verificationsOf(`Bearer  ${token}`)).toBe(3)
    expect(await verificationsOf(`Bearer ${token}==`)).toBe(3)
  })
})
