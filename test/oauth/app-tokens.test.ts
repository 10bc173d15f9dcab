import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import * as openid from 'openid-client'
import { beforeEach, describe, expect, it } from 'vitest'
import { newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { storageScopes } from '../../routers/kernel/scopes.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { authWorld, issuer, register, startAuthWorld } from './auth-world.ts'
import { basic, storeSecret } from './client-authentication.ts'

const scope = storageScopes.join(' ')
const secret = newClientSecret()
const keys = await generateKeyPair('ES256')

const auth = authWorld()
let app: string
/** A client of the app with a secret. */
let client: string
let consent: string
beforeEach(async () => {
  app = await mintApp(auth.world)
  client = await withSecret()
  consent = await consentTo(auth.world, { client })
})

type More = NonNullable<Parameters<typeof register>[1]>

async function withSecret(more: More = {}) {
  const name = await register(auth.world, { appId: app, authentication: 'client_secret', ...more } as More)
  await storeSecret(auth.world, name, secret)
  return name
}

const ask = (more: Record<string, string> = {}, of = client) =>
  auth.token({ grant_type: 'client_credentials', organisation: auth.world.ids.club, scope, ...more }, basic(of, secret))
const granted = async (more?: Record<string, string>, of?: string) => {
  const { status, json } = await ask(more, of)
  expect(json).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 900,
    scope: expect.any(String),
  })
  expect(status).toBe(200)
  return json as { access_token: string; scope: string }
}
const NOT_ALLOWED = {
  error: 'invalid_request',
  error_description: 'no member of this organisation allows the app its storage',
}

async function mintClub(more: object = {}) {
  const club = id('club')
  await auth.world.db.organisation.create({ data: { id: club, kind: 'club', name: 'Club', ...more } })
  return club
}

describe('an app with a server', () => {
  it('gets a token of its own for a club, which opens the shared storage at sync', async () => {
    const { access_token: token, scope: given } = await granted()
    expect(given).toBe(scope)
    expect(decodeJwt(token)).toMatchObject({
      iss: issuer,
      sub: client,
      client_id: client,
      organisation: auth.world.ids.club,
      scope,
    })
    const operations = [{ op: 'put', collection: 'c', key: 'k', value: 1 }]
    expect((await auth.world.call('POST', '/batch', { token, body: { operations } })).status).toBe(200)
    const { body } = await auth.world.call('PUT', '/collections/c/rules', { token, body: { rule: 'app' } })
    expect(body).toEqual({ rule: 'app' })
  })

  it('gets nothing else with it', async () => {
    const { access_token: token } = await granted()
    for (const path of ['', '/me/profile', '/storage/c', '/quiz-results/r', '/events', '/apps/a/webhook']) {
      const { status, body } = await auth.world.call('GET', path, { token })
      expect([path, status, body.error.message]).toEqual([path, 401, 'This token is not valid.'])
    }
  })

  it.each([
    ['both', scope, scope],
    ['one', 'svc.apps.storage:read', 'svc.apps.storage:read'],
    ['one with others', `svc.me.profile:read openid svc.apps.storage:write nothing`, 'svc.apps.storage:write'],
  ])('gets of the storage scopes %s that it asks for', async (_, asked, given) => {
    const { access_token, scope } = await granted({ scope: asked })
    expect([scope, decodeJwt(access_token).scope]).toEqual([given, given])
  })

  it('gets what is registered for it and what a member allows, in whichever client of the app', async () => {
    const read = await withSecret({ scopes: ['svc.apps.storage:read', 'svc.me.profile:read'] })
    expect((await granted({}, read)).scope).toBe('svc.apps.storage:read')
    await auth.world.db.consent.update({ where: { id: consent }, data: { scopes: ['svc.apps.storage:read'] } })
    expect((await granted()).scope).toBe('svc.apps.storage:read')
    const refused = await ask({ scope: 'svc.apps.storage:write' })
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_scope'])
  })

  it.each(['svc.me.profile:read', 'nothing', ''])('gets no token for the scope "%s"', async (asked) => {
    expect(await ask({ scope: asked })).toMatchObject({ status: 400, json: { error: 'invalid_scope' } })
  })

  it('has to name one organisation', async () => {
    const { organisation: _, ...fields } = { grant_type: 'client_credentials', scope, organisation: '' }
    const missing = await auth.token(fields, basic(client, secret))
    const error_description = 'organisation is needed, once'
    expect([missing.status, missing.json]).toEqual([400, { error: 'invalid_request', error_description }])
    const twice = `${new URLSearchParams(fields)}&organisation=a&organisation=b`
    expect(await auth.app.post(`${issuer}/token`, twice, basic(client, secret))).toMatchObject({ status: 400 })
  })

  it('renews nothing with it', async () => {
    const { access_token: token } = await granted()
    const refused = await auth.token({ grant_type: 'refresh_token', refresh_token: token }, basic(client, secret))
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_grant'])
  })
})

describe('one refusal is for every organisation', () => {
  it.each<[string, () => Promise<string>]>([
    ['that does not exist', async () => id('nowhere')],
    ['without a name', async () => ''],
    ['whose name cannot be stored', async () => 'a\0b'],
    ['that is a club without a consent', () => mintClub()],
    [
      'that is a club with a consent to another app',
      async () => {
        const club = await mintClub()
        const other = await register(auth.world)
        await consentTo(auth.world, { client: other, club, member: await mintMember(auth.world, club) })
        return club
      },
    ],
    [
      'that is a club with a consent to other scopes',
      async () => {
        const club = await mintClub()
        const of = { club, member: await mintMember(auth.world, club), scopes: ['svc.me.profile:read'] }
        await consentTo(auth.world, { client, ...of })
        return club
      },
    ],
    [
      'that is an academy',
      async () => {
        await consentTo(auth.world, { client, club: auth.world.ids.academy })
        return auth.world.ids.academy
      },
    ],
  ])('%s', async (_, organisation) => {
    const { status, json } = await ask({ organisation: await organisation() })
    expect([status, json]).toEqual([400, NOT_ALLOWED])
  })
})

describe('no token is given', () => {
  it('to a public client, which could not prove to be one', async () => {
    const open = await register(auth.world, { appId: app } as More)
    await consentTo(auth.world, { client: open })
    const fields = { grant_type: 'client_credentials', organisation: auth.world.ids.club, scope, client_id: open }
    const { status, json } = await auth.token(fields)
    expect([status, json.error]).toEqual([400, 'unauthorized_client'])
  })

  it.each([
    [
      'to the client of a suspended app',
      () => auth.world.db.app.update({ where: { id: app }, data: { state: 'suspended' } }),
    ],
    [
      'to a client that waits for approval',
      () =>
        auth.world.db.client.update({ where: { id: client }, data: { state: 'requested', requestedAt: new Date() } }),
    ],
  ])('%s', async (_, change) => {
    await change()
    const { status, json } = await ask()
    expect([status, json.error]).toEqual([400, 'unauthorized_client'])
  })

  it('to a client of a team that is being deleted', async () => {
    const { db, ids } = auth.world
    await db.team.update({ where: { id: ids.team }, data: { endsAt: new Date() } })
    const { status, json } = await ask()
    await db.team.update({ where: { id: ids.team }, data: { endsAt: null } })
    expect([status, json.error]).toEqual([400, 'unauthorized_client'])
    await granted()
  })

  it('to a client without an app', async () => {
    const without = await withSecret({ appId: null } as never)
    await consentTo(auth.world, { client: without })
    const { status, json } = await ask({}, without)
    expect([status, json]).toEqual([400, NOT_ALLOWED])
  })

  it('without the secret', async () => {
    const fields = { grant_type: 'client_credentials', organisation: auth.world.ids.club, scope, client_id: client }
    for (const proof of [{}, { client_secret: newClientSecret() }]) {
      const { status, json } = await auth.token({ ...fields, ...proof })
      expect([status, json.error]).toEqual([401, 'invalid_client'])
    }
  })
})

describe('a sandbox client', () => {
  it("gets tokens for its team's test club alone, once a test member has consented", async () => {
    const sandbox = await withSecret({ environment: 'sandbox' } as More)
    const club = await mintClub({ testTeamId: auth.world.ids.team })
    const foreign = await mintClub()
    expect((await ask({ organisation: club }, sandbox)).json).toEqual(NOT_ALLOWED)
    for (const one of [club, foreign]) {
      await consentTo(auth.world, { client: sandbox, club: one, member: await mintMember(auth.world, one) })
    }
    await granted({ organisation: club }, sandbox)
    for (const organisation of [foreign, auth.world.ids.club]) {
      const { status, json } = await ask({ organisation }, sandbox)
      expect([status, json]).toEqual([400, NOT_ALLOWED])
    }
  })
})

describe('a token of an app itself', () => {
  const collections = (token: string) => auth.world.call('GET', '/collections', { token })

  it('ends within 5 seconds with the last consent that members give on the page', async () => {
    await auth.world.db.consent.delete({ where: { id: consent } })
    expect((await ask()).json).toEqual(NOT_ALLOWED)
    const browser = await register(auth.world, { appId: app } as More)
    const { refresh_token } = await auth.toTokens({ client: browser, scope: 'svc.apps.storage:read' })
    const { access_token: token, scope: given } = await granted()
    expect(given).toBe('svc.apps.storage:read')
    expect((await collections(token)).status).toBe(200)
    await auth.app.post(`${issuer}/revoke`, { token: refresh_token, client_id: browser })
    auth.world.advance(5)
    expect(await collections(token)).toMatchObject({
      status: 401,
      body: { error: { message: 'This token is not valid.' } },
    })
    expect((await ask()).json).toEqual(NOT_ALLOWED)
  })

  it('loses a scope within 5 seconds that its client or the consent loses', async () => {
    const { access_token: token } = await granted()
    const batch = async () => {
      const operations = [{ op: 'get', collection: 'c', key: 'k' }]
      return (await auth.world.call('POST', '/batch', { token, body: { operations } })).status
    }
    const scopes = ['svc.apps.storage:read']
    expect(await batch()).toBe(200)
    await auth.world.db.consent.update({ where: { id: consent }, data: { scopes } })
    auth.world.advance(5)
    expect([await batch(), (await collections(token)).status]).toEqual([403, 200])
    await auth.world.db.consent.update({ where: { id: consent }, data: { scopes: [...storageScopes] } })
    auth.world.advance(5)
    expect(await batch()).toBe(200)
    await consentTo(auth.world, { client: await register(auth.world, { appId: app } as More) })
    await auth.world.db.client.update({ where: { id: client }, data: { scopes: [] } })
    auth.world.advance(5)
    expect([await batch(), (await collections(token)).status]).toEqual([403, 403])
  })

  it('cannot be revoked by itself, as it has no grant', async () => {
    const { access_token: token } = await granted()
    const answer = await auth.app.post(`${issuer}/revoke`, { token }, basic(client, secret))
    expect([answer.status, answer.json.error]).toEqual([400, 'unsupported_token_type'])
    expect((await collections(token)).status).toBe(200)
    const other = await withSecret()
    expect((await auth.app.post(`${issuer}/revoke`, { token }, basic(other, secret))).status).toBe(200)
    expect((await collections(token)).status).toBe(200)
  })

  it('expires after 15 minutes', async () => {
    const { access_token: token } = await granted()
    auth.world.advance(901)
    expect(await collections(token)).toMatchObject({
      status: 401,
      body: { error: { message: 'This token has expired.' } },
    })
  })
})

describe('openid-client, unchanged', () => {
  const withKey = async () => {
    const jwks = { keys: [await exportJWK(keys.publicKey)] } as never
    return register(auth.world, { appId: app, authentication: 'private_key_jwt', jwks } as never)
  }

  it.each<[string, () => Promise<string>, () => openid.ClientAuth]>([
    ['client_secret_basic', async () => client, () => openid.ClientSecretBasic(secret)],
    ['client_secret_post', async () => client, () => openid.ClientSecretPost(secret)],
    ['private_key_jwt', withKey, () => openid.PrivateKeyJwt(keys.privateKey)],
  ])('gets a token of the app itself with %s', async (_, registered, authentication) => {
    const customFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
      const answer = await auth.app.send(method, new URL(url), headers, body?.toString())
      return new Response(answer.text, { status: answer.status, headers: { 'content-type': 'application/json' } })
    }
    const config = await openid.discovery(new URL(issuer), await registered(), undefined, authentication(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: customFetch,
    })
    const organisation = auth.world.ids.club
    const { access_token: token, ...more } = await openid.clientCredentialsGrant(config, { scope, organisation })
    expect(more).toMatchObject({ scope, expires_in: 900 })
    expect(more).not.toHaveProperty('refresh_token')
    expect((await auth.world.call('GET', '/collections', { token })).status).toBe(200)
    const elsewhere = openid.clientCredentialsGrant(config, { scope, organisation: id('nowhere') })
    await expect(elsewhere).rejects.toMatchObject(NOT_ALLOWED)
  })
})

describe('with CLUB_APPROVAL, an app with a server', () => {
  const approving = startedAround(() => startAuthWorld({ like: auth.world, clubApproval: true }))
  const askThere = (organisation: string) =>
    approving.token({ grant_type: 'client_credentials', organisation, scope }, basic(client, secret))
  const set = (state: 'approved' | 'withdrawn') =>
    asPlatform(auth.world).directory.approvals.set({ club: auth.world.ids.club, app, state })

  it('gets tokens once the club approves it, and loses them with the approval', async () => {
    const { club } = auth.world.ids
    const refused = await askThere(club)
    expect([refused.status, refused.json]).toEqual([400, NOT_ALLOWED])
    expect((await ask()).status).toBe(200)
    await set('approved')
    const { access_token: token } = (await askThere(club)).json
    const body = { operations: [{ op: 'put', collection: 'c', key: 'k', value: 1 }] }
    expect((await approving.world.call('POST', '/batch', { token, body })).status).toBe(200)
    await set('withdrawn')
    approving.world.advance(5)
    expect((await approving.world.call('POST', '/batch', { token, body })).status).toBe(401)
    await consentTo(auth.world, { client })
    expect((await askThere(club)).json).toEqual(NOT_ALLOWED)
  })
})
