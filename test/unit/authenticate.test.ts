import type { IncomingMessage } from 'node:http'
import type { JWTPayload } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { createAuthenticate } from '../../server/tokens/authenticate.ts'
import { developmentIssuer } from '../../server/tokens/development.ts'
import { createTokenVerifier } from '../../server/tokens/verify.ts'

const { privateKey, publicKey } = await generateKeyPair('ES256')
const trusted = developmentIssuer({ ...(await exportJWK(publicKey)), kid: 'test', alg: 'ES256' })

/** A whole second. */
const AT = 1_800_000_000

const sign = (claims: JWTPayload) =>
  new SignJWT({ sub: 'anna', organisation: 'riverside', client_id: 'app', scope: '', exp: AT + 600, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'test' })
    .setIssuer(trusted.issuer)
    .setAudience(String(trusted.audience))
    .sign(privateKey)

let verifications = 0
const keys = async () => {
  verifications++
  return publicKey
}
const authenticate = createAuthenticate([{ ...trusted, keys }], () => AT * 1000)
const token = await sign({})

/** As Node reads it: `headers` has the first of several. */
const request = (...sent: string[]) => {
  const rawHeaders = sent.flatMap((value) => ['Authorization', value])
  return { headers: { authorization: sent[0] }, rawHeaders } as IncomingMessage
}

async function countVerifications(authorization: string): Promise<number> {
  const before = verifications
  for (let time = 0; time < 3; time++) {
    expect((await authenticate(request(authorization))).member, authorization).toBe('anna')
  }
  return verifications - before
}

describe('a bearer token', () => {
  it('is verified once, whatever the case of the scheme and the spaces after it', async () => {
    expect(await countVerifications(`Bearer ${token}`)).toBe(1)
    expect(await countVerifications(`bearer ${token}`)).toBe(0)
    expect(await countVerifications(`Bearer  ${token}`)).toBe(0)
  })

  it('is not cached when it is padded, as padding has endless spellings', async () => {
    expect(await countVerifications(`Bearer ${token}==`)).toBe(3)
  })

  it('throws 401 when it is sent twice', async () => {
    await expect(authenticate(request(`Bearer ${token}`, `Bearer ${token}`))).rejects.toMatchObject({ status: 401 })
  })
})

/** A verifier with a clock that stands, and what it says of a token: 'valid' or the message. */
function verifier() {
  const clock = { ms: AT * 1000 }
  const verify = createTokenVerifier([trusted], () => clock.ms)
  const outcome = (token: string, ms: number) => {
    clock.ms = ms
    return verify(token).then(
      () => 'valid',
      ({ message }: Error) => message,
    )
  }
  return outcome
}

const INVALID = 'This token is not valid.'
const EXPIRED = 'This token has expired.'

describe('a token', () => {
  it('may be valid from 5 s ahead, and not from 6', async () => {
    for (const [ahead, expected] of [
      [0, 'valid'],
      [5, 'valid'],
      [6, INVALID],
      [30, INVALID],
    ] as const) {
      expect([ahead, await verifier()(await sign({ nbf: AT + ahead }), AT * 1000)]).toEqual([ahead, expected])
    }
  })

  it('that is not valid yet becomes valid, as it is not remembered', async () => {
    const outcome = verifier()
    const token = await sign({ nbf: AT + 6 })
    expect(await outcome(token, AT * 1000 + 999)).toBe(INVALID)
    expect(await outcome(token, (AT + 1) * 1000)).toBe('valid')
  })

  it('is valid until the millisecond of its end, seen before or not', async () => {
    const token = await sign({ exp: AT })
    const end = AT * 1000
    for (const ms of [end - 1, end, end + 1, end + 4_999, end + 5_000, end + 60_000]) {
      const expected = ms < end ? 'valid' : EXPIRED
      expect([ms, await verifier()(token, ms)]).toEqual([ms, expected])
      const remembering = verifier()
      expect(await remembering(token, end - 1)).toBe('valid')
      expect([ms, await remembering(token, ms)]).toEqual([ms, expected])
    }
  })
})
