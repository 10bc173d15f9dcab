import { createHmac, createPublicKey } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { externalWorld } from './external-world.ts'

const notValid = { status: 401, body: { error: { code: 'invalid_token', message: 'This token is not valid.' } } }
const expired = { status: 401, body: { error: { code: 'invalid_token', message: 'This token has expired.' } } }
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
type World = Awaited<ReturnType<typeof externalWorld>>

describe('a token of an external issuer', () => {
  it.each(['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'])('is accepted with a signature by %s', async (alg) => {
    const { issuer, world, token } = await externalWorld()
    await issuer.addKey(alg)
    const reply = await world.call('GET', '/me/profile', { token: await token() })
    expect(reply).toMatchObject({ status: 200, body: { id: world.ids.member } })
  })

  it.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/At+Jwt'])('can have the type %s', async (typ) => {
    const { ask, token } = await externalWorld()
    expect(await ask(await token({}, { typ }))).toMatchObject({ status: 200 })
  })

  const wrong: [string, (world: World) => Promise<string>][] = [
    ['of another issuer', ({ token }) => token({ iss: 'https://elsewhere.example' })],
    ['of an issuer with an extra slash', ({ token, issuer }) => token({ iss: `${issuer.issuer}/` })],
    ['for another audience', ({ token }) => token({ aud: 'https://other.example.org' })],
    ['that is not valid yet', ({ token, world }) => token({ nbf: world.now() + 60 })],
    ['of two clubs', ({ token }) => token({ organisation: ['a', 'b'] })],
    ['with a scope that is not a string', ({ token }) => token({ scope: ['svc.me.profile:read', 7] })],
    ['that is bound to a key', ({ token }) => token({ cnf: { jkt: 'x' } })],
    ['of the type JWT', ({ token }) => token({}, { typ: 'JWT' })],
    ['of the type logout+jwt', ({ token }) => token({}, { typ: 'logout+jwt' })],
    ['of no type', ({ token }) => token({}, { typ: undefined })],
    ['of a development key', ({ world }) => world.token()],
    [
      'with the public key as HMAC secret',
      async ({ token, issuer }) => {
        const [key] = issuer.keys()
        const pem = createPublicKey({ key: key!.publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
        const head = `${base64url({ alg: 'HS256', typ: 'at+jwt', kid: key!.kid })}.${(await token()).split('.')[1]}`
        return `${head}.${createHmac('sha256', pem).update(head).digest('base64url')}`
      },
    ],
    [
      'signed by another key of the same id',
      async ({ token, issuer }) => {
        const { privateKey } = await generateKeyPair('ES256')
        return token({}, {}, { ...issuer.keys()[0]!, privateKey })
      },
    ],
    [
      'signed by a key that it brings along',
      async ({ token, issuer }) => {
        const { privateKey, publicKey } = await generateKeyPair('ES256')
        return token({}, { jwk: await exportJWK(publicKey) }, { ...issuer.keys()[0]!, privateKey })
      },
    ],
  ]
  let shared: World
  let ended: () => Promise<void>
  beforeAll(async () => {
    const atEnd = (end: () => Promise<void>) => {
      ended = end
    }
    shared = await externalWorld({ atEnd })
  })
  afterAll(() => ended())

  it.each(wrong)('%s returns 401', async (_, make) => {
    const { world, ask, token } = shared
    expect(await ask(await token())).toMatchObject({ status: 200 })
    const put = { token: await make(shared), body: { value: 'from a refused token' } }
    expect(await ask(put.token)).toMatchObject(notValid)
    expect(await world.call('PUT', '/storage/notes/refused', put)).toMatchObject(notValid)
    expect(await world.call('GET', '/storage/notes', { token: await token() })).toMatchObject({ body: { total: 0 } })
  })

  it('expires to the second, and tolerates a clock that is seconds ahead', async () => {
    const { world, ask, token } = shared
    const late = await token({ exp: world.now() + 600 })
    expect(await ask(late)).toMatchObject({ status: 200 })
    expect(await ask(await token({ exp: world.now() - 60 }))).toMatchObject(expired)
    expect(await ask(await token({ exp: world.now() - 1 }))).toMatchObject(expired)
    expect(await ask(await token({ nbf: world.now() + 3 }))).toMatchObject({ status: 200 })
    world.advance(600)
    expect(await ask(late)).toMatchObject(expired)
  })
})
