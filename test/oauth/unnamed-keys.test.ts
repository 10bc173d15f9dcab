import fc from 'fast-check'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { externalWorld } from './external-world.ts'
import { loopbackIssuer, text } from './loopback-issuer.ts'

type Given = Parameters<typeof externalWorld>[0]

async function keyOf(alg: string) {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, privateKey, jwk: await exportJWK(publicKey) }
}
type Key = Awaited<ReturnType<typeof keyOf>>

/** A service whose issuer publishes these keys as they are. */
async function worldOf(published: () => object[], given: Given = {}) {
  const issuer = await loopbackIssuer()
  const publish = () => issuer.answer(text(JSON.stringify({ keys: published() })), new URL(issuer.jwksUrl).pathname)
  publish()
  const lines: string[] = []
  const made = await externalWorld({ issuer, onLog: (line) => lines.push(line), ...given })
  const { world } = made
  const token = (key: Key, header: object = {}, claims: object = {}) =>
    new SignJWT({
      sub: world.ids.member,
      organisation: world.ids.club,
      client_id: world.ids.client,
      scope: '',
      iss: issuer.issuer,
      aud: 'https://api.example.org',
      iat: world.now(),
      exp: world.now() + 3_600,
      jti: crypto.randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: key.alg, typ: 'at+jwt', ...header })
      .sign(key.privateKey)
  const ask = async (key: Key, header?: object, claims?: object) => made.ask(await token(key, header, claims))
  const refusals = () => lines.filter((line) => line.includes('none of its keys')).map((line) => JSON.parse(line))
  return { ...made, publish, ask, refusals }
}

describe('an issuer whose keys have no kid', () => {
  it('is verified with each that fits, and an expired token says so', async () => {
    const keys = [await keyOf('RS256'), await keyOf('RS256'), await keyOf('ES256'), await keyOf('ES256')]
    const { ask, refusals, world } = await worldOf(() => keys.map(({ jwk }) => jwk))
    for (const key of keys) expect((await ask(key)).status).toBe(200)
    for (const key of keys) {
      const { status, body } = await ask(key, {}, { exp: world.now() - 60 })
      expect([status, body.error.message]).toEqual([401, 'This token has expired.'])
      expect((await ask(key, {}, { aud: 'other' })).status).toBe(401)
    }
    expect(refusals()).toEqual([])
  })

  it('may name two keys alike', async () => {
    const keys = [await keyOf('ES256'), await keyOf('ES256')]
    const { ask } = await worldOf(() => keys.map(({ jwk }) => ({ ...jwk, kid: 'one' })))
    for (const key of keys) {
      expect((await ask(key, { kid: 'one' })).status).toBe(200)
      expect((await ask(key)).status).toBe(200)
    }
  })

  it('may rotate them: a signature of no known key reads them again', async () => {
    const keys = [await keyOf('ES256')]
    const { ask, publish, issuer } = await worldOf(() => keys.map(({ jwk }) => jwk))
    expect((await ask(keys[0]!)).status).toBe(200)
    keys.unshift(await keyOf('ES256'))
    publish()
    expect((await ask(keys[0]!)).status).toBe(200)
    keys.shift()
    await issuer.down()
    expect((await ask(await keyOf('ES256'))).status).toBe(503)
    expect((await ask(keys[0]!)).status).toBe(200)
  })

  it('is not asked again for each strange token', async () => {
    const key = await keyOf('ES256')
    const { ask, issuer } = await worldOf(() => [key.jwk], { intervals: { unknownKeyMs: 600_000 } })
    const before = issuer.requests.length
    const stranger = await keyOf('ES256')
    for (let i = 0; i < 20; i++) expect((await ask(stranger)).status).toBe(401)
    expect(issuer.requests.length).toBe(before)
  })
})

describe('tokens that none of the keys has signed', () => {
  it('are a line of the log at most once a minute, with their number', async () => {
    const keys = [await keyOf('ES256'), await keyOf('ES256')]
    const { ask, refusals, world } = await worldOf(() => keys.map(({ jwk }) => jwk), {
      intervals: { unknownKeyMs: 600_000 },
    })
    const stranger = await keyOf('ES256')
    for (const header of [{}, { kid: 'unknown' }, {}]) expect((await ask(stranger, header)).status).toBe(401)
    expect(refusals()).toEqual([expect.objectContaining({ refused: 1, level: 40, reason: expect.any(String) })])
    world.advance(59)
    await ask(stranger)
    expect(refusals()).toHaveLength(1)
    world.advance(1)
    await ask(stranger)
    expect(refusals()).toEqual([expect.anything(), expect.objectContaining({ refused: 4 })])
    for (const claims of [{ aud: 'other' }, { exp: 1 }, { iss: 'https://elsewhere.example' }]) {
      world.advance(60)
      await ask(keys[0]!, {}, claims)
    }
    expect(refusals()).toHaveLength(2)
  })
})

it('any set of keys verifies the tokens of each, with and without names, and of no other', async () => {
  const pool = await Promise.all(['RS256', 'RS256', 'RS256', 'ES256', 'ES256', 'ES384', 'Ed25519'].map(keyOf))
  let published: object[] = []
  const made = await worldOf(() => (published.length > 0 ? published : [pool[0]!.jwk]))
  const stranger = await keyOf('ES256')
  const entry = fc.record({
    at: fc.nat({ max: pool.length - 1 }),
    kid: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    named: fc.boolean(),
    alg: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { minLength: 1, maxLength: 5, selector: ({ at }) => at }),
      async (entries) => {
        published = entries.map(({ at, kid, alg }) => ({
          ...pool[at]!.jwk,
          ...(kid !== undefined && { kid }),
          ...(alg && { alg: pool[at]!.alg, use: 'sig' }),
        }))
        made.publish()
        // Unknown, so the set is read again.
        expect((await made.ask(stranger)).status).toBe(401)
        const others = pool.filter((_, at) => !entries.some((one) => one.at === at))
        for (const other of others) expect((await made.ask(other)).status).toBe(401)
        for (const { at, kid, named } of entries) {
          const header = named && kid !== undefined ? { kid } : {}
          expect((await made.ask(pool[at]!, header)).status).toBe(200)
        }
      },
    ),
    { numRuns: times(200, 20), seed },
  )
})
