import { describe, expect, it } from 'vitest'
import { externalWorld } from './external-world.ts'

const notValid = { status: 401, body: { error: { code: 'invalid_token', message: 'This token is not valid.' } } }
type World = Awaited<ReturnType<typeof externalWorld>>

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
  ])('can be those %s', async (_, names, claimsOf) => {
    const claims = { member: 'sub', organisation: 'organisation', client: 'client_id', scope: 'scope', ...names }
    const { world, ask, token } = await externalWorld({ settings: { claims } })
    const none = { sub: undefined, organisation: undefined, client_id: undefined }
    const given = await token({ ...none, sub: names.member ? 'nobody' : world.ids.member, ...claimsOf(world.ids) })
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
