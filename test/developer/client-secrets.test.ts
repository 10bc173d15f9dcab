import { exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { Prisma } from '../../prisma/generated/client.ts'
import type { Removal } from '../../routers/kernel/removal.ts'
import { register, removeClient } from '../../server/admin/clients.ts'
import { repeatRemoval } from '../../server/admin/repeat-removals.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { profileRead, redirect, teamWorld } from './team-world.ts'

const DAY_S = 86_400
const here = teamWorld()
// An app can have 20.
afterEach(async () => {
  await here.world.db.client.deleteMany({ where: { appId: here.world.ids.app, id: { startsWith: 'c_' } } })
})

const api = () => here.as(here.colleague).clients
const create = (client: string, days?: 90 | 180 | 365) =>
  api().secrets.create({ client, ...(days !== undefined && { days }) })
const audit = async () => (await here.as(here.owner).audit.list({ team: here.world.ids.team, limit: 1 })).items[0]!
const latest = async () => {
  const { action, target, before, after } = await audit()
  return { action, target, before, after }
}
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19)
const jwk = async (alg = 'ES256', options = {}) =>
  JSON.stringify(await exportJWK((await generateKeyPair(alg, { extractable: true, ...options })).publicKey))
const [goodKey, otherCurve] = [await jwk(), await jwk('ES384')]

/** A refused call leaves all that people of the team could have changed. */
async function refused(call: () => Promise<unknown>) {
  const before = await here.stored()
  const refusal = await readRefusal(call())
  expect(await here.stored()).toEqual(before)
  return refusal
}

describe("a client's secret", () => {
  it.each([
    [90, 90],
    [undefined, 180],
    [365, 365],
  ] as const)('for %s days is shown once, is stored as a hash, and ends after %i days', async (days, life) => {
    const { id: client } = await here.sandbox()
    const before = here.world.now()
    const { secret, ...made } = await create(client, days)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(made).toEqual({
      id: expect.stringMatching(/^s_[a-z]{20}$/),
      createdAt: expect.any(Number),
      lastUsedAt: null,
      expiresAt: made.createdAt + life * DAY_S,
      used: false,
    })
    expect(made.createdAt).toBeGreaterThanOrEqual(before)
    const { used: _, ...listed } = made
    expect((await api().get({ client })).secrets).toEqual([listed])
    const entry = await latest()
    expect(entry).toMatchObject({ action: 'secret.create', target: client, after: { secret: made.id } })
    const { db, ids } = here.world
    const [row] = await db.clientSecret.findMany({ where: { clientId: client } })
    const log = await db.auditEntry.findMany({ where: { teamId: ids.team } })
    const hidden = [secret, row!.hash]
    const shown = JSON.stringify([entry, await api().get({ client }), log.map(({ before, after }) => [before, after])])
    expect(hidden.filter((word) => shown.includes(word))).toEqual([])
    expect(row!.hash).not.toBe(secret)
  })

  it('is used at once by a public client where that is asked, and a restored backup does not make it public again', async () => {
    const { id: client } = await here.sandbox()
    const { db, core } = here.world
    const repeats: Removal[] = []
    const { removed } = core
    core.removed = (removal) => void repeats.push(removal)
    expect(await api().secrets.create({ client, use: true })).toMatchObject({ used: true })
    core.removed = removed
    expect(await api().get({ client })).toMatchObject({ authentication: 'client_secret', version: 1 })
    expect(await latest()).toEqual({
      action: 'client.setAuthentication',
      target: client,
      before: { authentication: 'none' },
      after: { authentication: 'client_secret' },
    })
    await db.client.update({ where: { id: client }, data: { authentication: 'none' } })
    expect([repeats.length, await repeatRemoval(db, repeats[0]!, async () => [])]).toEqual([1, true])
    expect(await api().get({ client })).toMatchObject({ authentication: 'client_secret' })
    expect(await create(client)).toMatchObject({ used: true })
    expect(await refused(() => api().secrets.create({ client, use: true }))).toMatchObject({ status: 409 })
  })

  it('is one of at most two that are valid, also for concurrent calls', async () => {
    const { id: client } = await here.sandbox()
    const calls = await Promise.allSettled(Array.from({ length: 6 }, () => create(client)))
    const created = calls.filter(({ status }) => status === 'fulfilled')
    expect(created).toHaveLength(2)
    const reasons = calls.flatMap((call) => (call.status === 'rejected' ? call.reason.reason : []))
    expect(reasons).toEqual(Array(4).fill('too_many_secrets'))
    expect((await api().get({ client })).secrets).toHaveLength(2)
    const { secrets } = await api().get({ client })
    await here.world.db.clientSecret.update({
      where: { id: secrets[0]!.id },
      data: { createdAt: new Date(0), expiresAt: new Date(DAY_S * 1000) },
    })
    await create(client)
    expect(await refused(() => create(client))).toMatchObject({ status: 409 })
    expect((await api().get({ client })).secrets).toHaveLength(3)
  })

  it('is of a web client of the own team alone, and has one of three lives', async () => {
    const { id: client } = await here.sandbox()
    const native = await here.sandbox({ type: 'native', redirectUris: ['com.example.app:/back'] })
    expect(await refused(() => create(native.id))).toMatchObject({ status: 409, message: expect.stringMatching(/web/) })
    for (const unknown of [here.world.ids.platform, id('client'), 'a\0b']) {
      expect(await refused(() => create(unknown))).toMatchObject({ status: 404 })
    }
    const asStranger = here.as(here.stranger).clients.secrets
    expect(await refused(() => asStranger.create({ client }))).toMatchObject({ status: 404 })
    expect(await refused(() => create(client, 91 as never))).toMatchObject({
      status: 400,
      message: expect.stringContaining('days is 90, 180 or 365.'),
    })
    const { id: secret } = await create(client)
    expect(await refused(() => asStranger.remove({ client, secret }))).toMatchObject({ status: 404 })
  })

  it('is removed by its client and id, once, and a restored backup does not bring it back', async () => {
    const [{ id: client }, { id: other }] = [await here.sandbox(), await here.sandbox()]
    const { id: secret, expiresAt } = await create(client)
    const { db, core } = here.world
    const row = await db.clientSecret.findUniqueOrThrow({ where: { id: secret } })
    expect(await refused(() => api().secrets.remove({ client: other, secret }))).toMatchObject({ status: 404 })
    const repeats: Removal[] = []
    const { removed } = core
    core.removed = (removal) => void repeats.push(removal)
    expect(await api().secrets.remove({ client, secret })).toEqual({ client, secret })
    core.removed = removed
    expect(await latest()).toEqual({
      action: 'secret.remove',
      target: client,
      after: null,
      before: { secret, expiresAt: expect.stringContaining(iso(expiresAt)), lastUsedAt: null },
    })
    expect(await refused(() => api().secrets.remove({ client, secret }))).toMatchObject({ status: 404 })
    await db.clientSecret.create({ data: row })
    const again = () => repeatRemoval(db, repeats[0]!, async () => [])
    expect([repeats.length, await again(), await again()]).toEqual([1, true, false])
    expect(await db.clientSecret.count({ where: { clientId: client } })).toBe(0)
  })

  it('goes with its client', async () => {
    const { id: client } = await here.sandbox()
    await create(client)
    await removeClient(here.world.db, client)
    expect(await here.world.db.clientSecret.count({ where: { clientId: client } })).toBe(0)
  })
})

describe('how a client authenticates', () => {
  type Authentication = 'none' | 'client_secret' | 'private_key_jwt'
  const set = async (client: string, authentication: Authentication, keys?: string) => {
    const { version } = await api().get({ client })
    return api().setAuthentication({ client, version, authentication, ...(keys !== undefined && { keys }) })
  }

  it('is with a secret once it has a valid one, and in the sandbox not at all again', async () => {
    const { id: client } = await here.sandbox()
    expect(await refused(() => set(client, 'client_secret'))).toMatchObject({ status: 409 })
    const { id: secret } = await create(client)
    expect(await set(client, 'client_secret')).toMatchObject({ authentication: 'client_secret', version: 1 })
    expect(await latest()).toEqual({
      action: 'client.setAuthentication',
      target: client,
      before: { authentication: 'none' },
      after: { authentication: 'client_secret' },
    })
    await api().secrets.remove({ client, secret })
    expect(await set(client, 'client_secret')).toMatchObject({ version: 1 })
    expect(await set(client, 'none')).toMatchObject({ authentication: 'none', version: 2 })
  })

  it('is with at most two public keys, which are replaced together', async () => {
    const { id: client } = await here.sandbox()
    const [one, two, three] = await Promise.all([jwk(), jwk('PS256'), jwk('Ed25519')])
    const makeKeySet = (...keys: string[]) => `{"keys":[${keys.join()}]}`
    const { keys } = await set(client, 'private_key_jwt', makeKeySet(one, two))
    expect(keys).toEqual([JSON.parse(one), JSON.parse(two)])
    expect(await refused(() => set(client, 'private_key_jwt', makeKeySet(one, two, three)))).toMatchObject({
      status: 400,
    })
    expect(await set(client, 'private_key_jwt')).toMatchObject({ keys, version: 1 })
    const pem = await exportSPKI((await generateKeyPair('ES256', { extractable: true })).publicKey)
    expect((await set(client, 'private_key_jwt', pem)).keys).toHaveLength(1)
    expect(await set(client, 'none')).toMatchObject({ authentication: 'none', keys: null })
  })

  it.each<[string, string | undefined, RegExp]>([
    ['no key', undefined, /no key/],
    ['an empty set', '{"keys":[]}', /no key/],
    ['a text', 'key', /cannot be read/],
    ['broken JSON', '{', /neither JSON nor PEM/],
    ['a private key', '{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"AA"}', /private key/],
    ['a symmetric key', '{"kty":"oct","k":"AAAA"}', /private key/],
    ['keys that are no list', '{"keys":1}', /must be a list/],
    ['another curve', otherCurve, /P-256/],
    ['a kid with NUL', goodKey.replace('{', '{"kid":"\\u0000",'), /kid/],
    ['a long text', `{"keys":${' '.repeat(6_000)}`, /6000|too big|Too big/i],
  ])('is not with %s', async (_, keys, message) => {
    const { id: client } = await here.sandbox()
    const refusal = await refused(() => set(client, 'private_key_jwt', keys))
    expect(refusal).toMatchObject({ status: 400, message: expect.stringMatching(message) })
  })

  it('in production needs no approval, and never ends', async () => {
    const client = await here.production()
    await create(client)
    expect(await set(client, 'client_secret')).toMatchObject({ authentication: 'client_secret', wanted: null })
    expect(await set(client, 'private_key_jwt', await jwk())).toMatchObject({ authentication: 'private_key_jwt' })
    expect(await refused(() => set(client, 'none'))).toMatchObject({
      status: 409,
      message: expect.stringMatching(/cannot become public/),
    })
  })

  it('is taken over by a production client, without secrets and keys', async () => {
    const { id: client } = await here.sandbox()
    await set(client, 'private_key_jwt', await jwk())
    const purpose = { [profileRead]: 'It greets the member.' }
    const asked = await here.as(here.owner).clients.requestProduction({ client, purpose })
    expect(asked).toMatchObject({ authentication: 'private_key_jwt', keys: null })
    expect((await api().get({ client: asked.id })).secrets).toEqual([])
  })

  it('of a native client is not at all', async () => {
    const { id: client } = await here.sandbox({ type: 'native', redirectUris: ['com.example.app:/back'] })
    for (const authentication of ['client_secret', 'private_key_jwt'] as const) {
      const keys = await jwk()
      expect(await refused(() => set(client, authentication, keys))).toMatchObject({ status: 409 })
    }
  })

  it('keeps an operator from making the client native', async () => {
    const { id: client } = await here.sandbox()
    await create(client)
    await set(client, 'client_secret')
    const { ids, db } = here.world
    const team = { id: ids.team }
    const of = { id: client, name: 'Sandbox', environment: 'sandbox' as const, team, app: { id: ids.app } }
    const registration = { ...of, redirectUris: [redirect], scopes: [profileRead] }
    const options = { replace: true, development: true }
    await expect(register(db, { ...registration, type: 'native' }, options)).rejects.toThrow('only a web client')
    await register(db, { ...registration, type: 'web' }, options)
    expect(await api().get({ client })).toMatchObject({ authentication: 'client_secret', secrets: [{}] })
  })

  it('is not changed by who has read an older version, or is of another team', async () => {
    const { id: client, version } = await here.sandbox()
    const keys = await jwk()
    const wanted = { client, authentication: 'private_key_jwt' as const, keys }
    const stale = () => api().setAuthentication({ ...wanted, version: version - 1 })
    expect(await refused(stale)).toMatchObject({ status: 409 })
    const stranger = () => here.as(here.stranger).clients.setAuthentication({ ...wanted, version })
    expect(await refused(stranger)).toMatchObject({ status: 404 })
  })

  it('is as it was last after a restored backup', async () => {
    const { id: client } = await here.sandbox()
    const { db, core } = here.world
    const repeats: Removal[] = []
    const { removed } = core
    core.removed = (removal) => void repeats.push(removal)
    const { keys } = await set(client, 'private_key_jwt', await jwk())
    await set(client, 'private_key_jwt')
    core.removed = removed
    expect(repeats).toHaveLength(1)
    await db.client.update({ where: { id: client }, data: { authentication: 'none', jwks: Prisma.DbNull } })
    expect(await repeatRemoval(db, repeats[0]!, async () => [])).toBe(true)
    expect(await api().get({ client })).toMatchObject({ authentication: 'private_key_jwt', keys })
    await removeClient(db, client)
    expect(await repeatRemoval(db, repeats[0]!, async () => [])).toBe(false)
  })
})
