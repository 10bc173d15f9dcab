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

describe('an ID token', () => {
  it.each([
    ['a nonce', { nonce: 'x' }],
    ['the hash of an access token', { at_hash: 'x' }],
    ['the hash of a code', { c_hash: 'x' }],
    ["Keycloak's kind ID", { typ: 'ID' }],
    ["Keycloak's kind Refresh", { typ: 'Refresh' }],
    ['the event of a logout', { events: {} }],
  ])('with %s returns 401, even if access tokens have the type JWT as well', async (_, claims) => {
    const { ask, token } = await externalWorld({ settings: { type: 'JWT' } })
    for (const typ of ['JWT', 'jwt']) {
      expect(await ask(await token({ typ: 'Bearer' }, { typ }))).toMatchObject({ status: 200 })
      expect(await ask(await token({}, { typ }))).toMatchObject({ status: 200 })
      expect(await ask(await token(claims, { typ }))).toMatchObject(notValid)
    }
    expect(await ask(await token())).toMatchObject({ status: 200 })
    expect(await ask(await token({}, { typ: undefined }))).toMatchObject(notValid)
  })
})

describe('the names of claims', () => {
  it.each<[string, Record<string, string>, (ids: World['world']['ids']) => Record<string, unknown>]>([
    [
      'of Keycloak',
      { client: 'azp', organisation: 'organization' },
      ({ client, club }) => ({ azp: client, organization: [club] }),
    ],
    [
      'of Auth0',
      { client: 'azp', organisation: 'https://example.org/organisation', scope: 'permissions' },
      ({ client, club }) => ({
        azp: client,
        'https://example.org/organisation': club,
        permissions: ['svc.me.profile:read'],
        scope: 'openid',
      }),
    ],
    [
      'nested in objects',
      { member: 'person.id', organisation: 'realm.org', client: 'client_id' },
      ({ member, club, client }) => ({ person: { id: member }, realm: { org: club }, client_id: client }),
    ],
    [
      'with dots',
      { organisation: 'realm.org' },
      ({ club, client, member }) => ({ sub: member, 'realm.org': club, client_id: client }),
    ],
  ])('can be those %s', async (_, names, selectClaims) => {
    const claims = { member: 'sub', organisation: 'organisation', client: 'client_id', scope: 'scope', ...names }
    const { world, ask, token } = await externalWorld({ settings: { claims } })
    const none = { sub: undefined, organisation: undefined, client_id: undefined }
    const given = await token({ ...none, sub: names.member ? 'nobody' : world.ids.member, ...selectClaims(world.ids) })
    const reply = await world.call('GET', '/me/profile', { token: given })
    expect(reply).toMatchObject({ status: 200, body: { id: world.ids.member } })
    expect(await ask(await token(none))).toMatchObject(notValid)
  })

  it('never match inherited properties', async () => {
    for (const organisation of [
      'constructor.name',
      '__proto__.x',
      'toString.name',
      'sub.length',
      'https://example.org/x',
    ]) {
      const claims = { member: 'sub', organisation, client: 'client_id', scope: 'scope' }
      const { ask, token } = await externalWorld({ settings: { claims } })
      expect(await ask(await token({ 'https://example': { 'org/x': 'club' } }))).toMatchObject(notValid)
    }
  })

  it('give no scopes without a scope claim', async () => {
    const { world, token } = await externalWorld()
    const given = await token({ scope: undefined })
    expect(await world.call('GET', '/', { token: given })).toMatchObject({ status: 200 })
    expect(await world.call('GET', '/me/profile', { token: given })).toMatchObject({ status: 403 })
  })
})

const audiences = { apps: 'urn:apps', lms: 'urn:lms', notify: 'urn:notify' }

describe('a token', () => {
  it.each<[string | string[], number[]]>([
    ['urn:apps', [200, 200, 401, 401, 200]],
    ['urn:lms', [401, 401, 404, 401, 401]],
    ['urn:notify', [401, 401, 401, 200, 401]],
    [
      ['urn:elsewhere', 'urn:notify', 'urn:apps'],
      [200, 200, 401, 200, 200],
    ],
    [Object.values(audiences), [200, 200, 404, 200, 200]],
    [['urn:elsewhere'], [401, 401, 401, 401, 401]],
    ['urn', [401, 401, 401, 401, 401]],
    ['http://sync.test/v1', [401, 401, 401, 401, 401]],
    [[], [401, 401, 401, 401, 401]],
  ])('for %s is accepted by its sections only, for apps by sync too, over REST and tRPC', async (aud, statuses) => {
    const { world, token } = await externalWorld({ settings: { audiences } })
    const { club, academy, provider, app } = world.ids
    const rest = async (method: string, path: string, organisation: string, body?: unknown) =>
      (await world.call(method, path, { token: await token({ aud, organisation }), body })).status
    expect([
      await rest('GET', '/', club),
      await rest('PUT', '/storage/notes/a', club, { value: 1 }),
      await rest('POST', '/quizzes/none/results', academy, { answers: {} }),
      await rest('GET', `/apps/${app}/webhook`, provider),
      await rest('GET', '/collections/notes/entries', club),
    ]).toEqual(statuses)

    const trpc = async (method: string, name: string, organisation: string, input?: unknown) => {
      const query = method === 'GET' && input ? `?input=${encodeURIComponent(JSON.stringify(input))}` : ''
      const authorization = `Bearer ${await token({ aud, organisation })}`
      const body = method === 'POST' ? input : undefined
      return (await world.internal(method, `/trpc/${name}${query}`, { headers: { authorization }, body })).status
    }
    expect([
      await trpc('GET', 'root', club),
      await trpc('POST', 'storage.put', club, { collection: 'notes', key: 'b', value: 2 }),
      await trpc('POST', 'quizzes.submit', academy, { quizId: 'none', answers: {} }),
      await trpc('GET', 'webhook.get', provider, { id: app }),
      await trpc('GET', 'storage.entries', club, { collection: 'notes' }),
    ]).toEqual(statuses)

    const all = await token({ aud: Object.values(audiences) })
    const { total } = (await world.call('GET', '/storage/notes', { token: all })).body
    expect(total).toBe(statuses[1] === 200 ? 2 : 0)
  })

  it('for another section returns 401 before all other checks, and is not counted', async () => {
    const { world, token } = await externalWorld({ settings: { audiences } })
    await world.db.team.update({ where: { id: world.ids.team }, data: { level: 'hobby' } })
    for (const claims of [{ scope: '' }, { sub: 'nobody' }, { client_id: 'nobody' }]) {
      const given = await token({ aud: 'urn:lms', ...claims })
      const reply = await world.call('GET', '/me/profile', { token: given })
      expect(reply).toMatchObject(notValid)
      expect(reply.headers.ratelimit).toBeUndefined()
    }
    const own = await world.call('GET', '/me/profile', { token: await token({ aud: 'urn:apps' }) })
    expect(own).toMatchObject({ status: 200, headers: { ratelimit: '"team";r=59;t=60' } })
  })

  it('for some sections is checked for each call of a batch', async () => {
    const { world, token } = await externalWorld({ settings: { audiences } })
    const authorization = `Bearer ${await token({ aud: 'urn:apps' })}`
    const input = encodeURIComponent(JSON.stringify({ 1: { id: world.ids.app } }))
    const reply = await world.internal('GET', `/trpc/root,webhook.get?batch=1&input=${input}`, {
      headers: { authorization },
    })
    const outcomes = reply.body.map((one: Record<string, { data: object }>) => one.result?.data ?? one.error?.data)
    expect(outcomes).toMatchObject([{ api: 'apps', organisation: world.ids.club }, { httpStatus: 401 }])
  })
})
