import { beforeEach, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { consentTo, mintAppServer, mintMember } from '../support/app-server.ts'
import { openEvents } from '../support/event-stream.ts'
import { asPlatform } from '../support/platform.ts'
import { sampleCalls } from '../support/sample-calls.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

const world = useWorld()
let server: Awaited<ReturnType<typeof mintAppServer>>
beforeEach(async () => {
  server = await mintAppServer(world)
})

const itself = (method: string, path: string, body?: object, claims: object = {}) =>
  world.call(method, path, { body, claims: { ...server.claims, ...claims } })
/** By the member, with the same client. */
const asMember = (method: string, path: string, body?: object, claims: object = {}) =>
  world.call(method, path, { body, claims: { client_id: server.client, ...claims } })
const batch = (...operations: object[]) => ({ operations })
const put = (value: unknown, more: object = {}) => ({ op: 'put', collection: 'c', key: 'k', value, ...more })
const setRule = (rule: 'author' | 'app') =>
  world.db.collectionRule.create({ data: { appId: server.app, collection: 'c', rule } })
const stored = () =>
  world.db.storageEntry.findMany({
    where: { appId: server.app },
    orderBy: [{ owner: 'asc' }, { collection: 'asc' }, { key: 'asc' }],
  })

const openStream = async (claims: object = server.claims) =>
  openEvents(world.publicPort, '/v1/collections/c/changes', {
    host: 'sync.test',
    accept: 'text/event-stream',
    authorization: `Bearer ${await world.token({ ...claims })}`,
  })

const INVALID = { status: 401, body: { error: { code: 'invalid_token', message: 'This token is not valid.' } } }

describe('an app itself', () => {
  it('writes and reads the shared storage of the club, without an author', async () => {
    const written = await itself('POST', '/batch', batch(put(1), { op: 'get', collection: 'c', key: 'k' }))
    expect(written).toMatchObject({ status: 200, body: { results: [{}, { key: 'k', value: 1 }] } })
    expect(await stored()).toMatchObject([{ owner: '', key: 'k', value: '1', createdBy: null, updatedBy: null }])
    const { body: collections } = await itself('GET', '/collections')
    expect(collections.items).toMatchObject([{ collection: 'c', entries: 1 }])
    expect((await itself('GET', '/collections/c/entries')).body.items).toMatchObject([{ key: 'k', value: 1 }])
    const { body: changes } = await itself('GET', '/collections/c/changes')
    expect(changes.items).toMatchObject([{ key: 'k', value: 1 }])
    await asMember('PUT', '/storage/c/k', { value: 2 })
    const next = await itself('GET', `/collections/c/changes?since=${changes.cursor}`)
    expect(next.body.items).toMatchObject([{ key: 'k', value: 2 }])
  })

  it('writes byte for byte, and replaces an entry whose author stays', async () => {
    await asMember('PUT', '/storage/c/k', { value: 1 })
    const text = '{"b":1.0,"a":1e400}'
    const body = `{"operations":[{"op":"put","collection":"c","key":"k","value":${text}}]}`
    expect((await itself('POST', '/batch', body as never)).status).toBe(200)
    expect(await stored()).toMatchObject([{ value: text, createdBy: world.ids.member, updatedBy: null }])
  })

  it('follows a collection as it changes', async () => {
    const stream = await openStream()
    await asMember('PUT', '/storage/c/k', { value: 1 })
    expect((await stream.take(1))[0]!.data).toMatchObject({ key: 'k', value: 1 })
    stream.close()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })

  it('may write where the rule is app, which no member may', async () => {
    await setRule('app')
    const refused = await asMember('PUT', '/storage/c/k', { value: 1 })
    expect([refused.status, refused.body]).toEqual([403, { detail: 'This entry belongs to another member.' }])
    expect((await asMember('POST', '/batch', batch(put(1)))).status).toBe(403)
    expect(await stored()).toEqual([])
    expect((await itself('POST', '/batch', batch(put(1)))).status).toBe(200)
    expect((await itself('POST', '/batch', batch({ op: 'delete', collection: 'c', key: 'k' }))).status).toBe(200)
    expect(await stored()).toEqual([])
  })

  it('may write the entries of members where the rule is author, and its own belong to no member', async () => {
    await setRule('author')
    await asMember('PUT', '/storage/c/k', { value: 1 })
    expect((await itself('POST', '/batch', batch(put(2), put(3, { key: 'own' })))).status).toBe(200)
    expect((await asMember('PUT', '/storage/c/own', { value: 4 })).status).toBe(403)
    expect((await asMember('PUT', '/storage/c/k', { value: 5 })).status).toBe(200)
    expect((await stored()).map(({ value }) => value)).toEqual(['5', '3'])
  })

  it('has no private entries: scope=user is refused, and shows none', async () => {
    await asMember('PUT', '/storage/c/k?scope=user', { value: 1 })
    const before = await stored()
    const message = 'This token has no member: scope is org.'
    for (const path of ['/collections', '/collections/c/entries', '/collections/c/changes']) {
      const { status, body } = await itself('GET', `${path}?scope=user`)
      expect([path, status, body.error]).toMatchObject([path, 422, { code: 'invalid_request', message }])
    }
    const refused = await itself('POST', '/batch', batch(put(1), put(2, { scope: 'user' })))
    expect([refused.status, refused.body.error.message]).toEqual([422, `Operation 1: ${message}`])
    expect(await stored()).toEqual(before)
  })

  it('needs the scope, and for a batch that to write', async () => {
    const scope = 'svc.apps.storage:read'
    expect((await itself('GET', '/collections', undefined, { scope })).status).toBe(200)
    const refused = await itself('POST', '/batch', batch(put(1)), { scope })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'missing_scope'])
    expect(await stored()).toEqual([])
  })
})

const open = new Set(['storage.collections', 'storage.entries', 'storage.changes', 'storage.batch'])
const closed = routes.filter(({ name }) => !open.has(name) && !name.startsWith('storage.rules'))

describe('a token of an app itself', () => {
  it.each(closed.map(({ name, section }) => [name, section] as const))('is 401 for %s', async (name, section) => {
    const { method, path, body } = sampleCalls({ id: server.app })[name]!
    const before = await stored()
    const claims = { ...server.claims, scope: memberScopes.join(' ') }
    const reply = await world.call(method, path, { api: section, body, claims: { ...claims } })
    expect(reply).toMatchObject(INVALID)
    expect(await stored()).toEqual(before)
  })

  it('is 401 for what people, and clients of the platform, do', async () => {
    const claims = { member: null, client: server.client, organisation: world.ids.club }
    const { developer, directory } = asPlatform(world, claims)
    for (const call of [developer.rules.list({ app: server.app }), directory.people.list({})]) {
      await expect(call).rejects.toMatchObject({ status: 401, message: 'This token is not valid.' })
    }
  })

  it('of a client of the platform is 401 at the storage', async () => {
    const claims = { client_id: world.ids.platform, sub: undefined }
    expect(await world.call('GET', '/collections', { claims })).toMatchObject(INVALID)
  })
})

type End = (world: World) => Promise<unknown>
const DAY_MS = 86_400_000
/** After each of them nobody in the club allows the app its storage any more. */
const ends: [string, End][] = [
  [
    'the last consent is withdrawn',
    ({ db, now }) =>
      db.consent.update({ where: { id: server.consent }, data: { withdrawnAt: new Date(now() * 1000) } }),
  ],
  ['the last consent is removed', ({ db }) => db.consent.delete({ where: { id: server.consent } })],
  [
    'the last consent is a year old',
    ({ db, now }) =>
      db.consent.update({ where: { id: server.consent }, data: { createdAt: new Date(now() * 1000 - 365 * DAY_MS) } }),
  ],
  [
    'the last member who consented leaves the club',
    ({ db, ids, now }) =>
      db.membership.update({
        where: { of: { organisationId: ids.club, personId: ids.member } },
        data: { leftAt: new Date(now() * 1000) },
      }),
  ],
  [
    'the client of the last consent loses the scopes',
    ({ db }) => db.client.update({ where: { id: server.client }, data: { scopes: [] } }),
  ],
  ['the app is suspended', ({ db }) => db.app.update({ where: { id: server.app }, data: { state: 'suspended' } })],
  ['the client is removed', ({ db }) => db.client.delete({ where: { id: server.client } })],
]
/** Undoes what was done to the tenant. */
const restore = ({ db, ids }: World) =>
  Promise.all([
    db.team.update({ where: { id: ids.team }, data: { endsAt: null } }),
    db.membership.update({
      where: { of: { organisationId: ids.club, personId: ids.member } },
      data: { leftAt: null },
    }),
  ])

describe.each([
  ...ends,
  [
    'the team is being deleted',
    ({ db, ids, now }) =>
      db.team.update({ where: { id: ids.team }, data: { endsAt: new Date(now() * 1000 + DAY_MS) } }),
  ] satisfies [string, End],
])('when %s', (_, end) => {
  it('a token of the app itself is refused within 5 seconds, and nothing changes', async () => {
    expect((await itself('POST', '/batch', batch(put(1)))).status).toBe(200)
    await end(world)
    const before = await stored()
    world.advance(4)
    expect(await itself('POST', '/batch', batch(put(2)))).toMatchObject(INVALID)
    expect(await itself('GET', '/collections')).toMatchObject(INVALID)
    expect(await stored()).toEqual(before)
    await restore(world)
  })

  it('its stream ends', async () => {
    const stream = await openStream()
    await world.core.accessWatch.check()
    await itself('POST', '/batch', batch(put(1)))
    expect(await stream.take(1)).toHaveLength(1)
    await end(world)
    await world.core.accessWatch.check()
    await stream.ended
    await restore(world)
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })
})

it('the streams of other apps, and of members, go on when the stream of one app ends', async () => {
  const other = await mintAppServer(world)
  const [stream, ofOther, ofMember] = [
    await openStream(),
    await openStream(other.claims),
    await openStream({ client_id: server.client }),
  ]
  await world.db.consent.delete({ where: { id: server.consent } })
  await world.core.accessWatch.check()
  await stream.ended
  await asMember('PUT', '/storage/c/k', { value: 1 })
  expect(await ofMember.take(1)).toHaveLength(1)
  await itself('POST', '/batch', batch(put(1)), other.claims)
  expect(await ofOther.take(1)).toHaveLength(1)
  for (const going of [ofOther, ofMember]) going.close()
  await expect.poll(() => world.longPollSlots.size).toBe(0)
})

describe('a consent', () => {
  it('of another member, of another client of the app, or to read alone is enough for what it allows', async () => {
    await world.db.consent.delete({ where: { id: server.consent } })
    const of = { teamId: world.ids.team, appId: server.app, environment: 'production' as const }
    const scopes = ['svc.apps.storage:read', 'svc.me.profile:read']
    const browser = await world.db.client.create({ data: { id: id('browser'), name: 'Browser', ...of, scopes } })
    await consentTo(world, { client: browser.id, member: await mintMember(world), scopes })
    expect((await itself('GET', '/collections')).status).toBe(200)
    const access = await world.core.accessOf(world.principal({ member: null, client: server.client }))
    expect(access).toMatchObject({ memberOf: 'club', scopes: ['svc.apps.storage:read'] })
  })

  it.each([
    ['in another club', async () => ({ club: world.ids.academy })],
    ['to another app', async () => ({ client: (await mintAppServer(world)).client })],
    ['to something else than the storage', async () => ({ scopes: ['svc.me.profile:read'] })],
    ['by somebody who is no member', async () => ({ member: await mintStranger() })],
  ])('%s opens nothing', async (_, more) => {
    await world.db.consent.delete({ where: { id: server.consent } })
    await consentTo(world, { client: server.client, ...(await more()) })
    expect(await itself('GET', '/collections')).toMatchObject(INVALID)
  })

  it('in one club opens no other club', async () => {
    const club = id('club')
    await world.db.organisation.create({ data: { id: club, kind: 'club', name: 'Other' } })
    for (const organisation of [club, world.ids.academy, 'nowhere', 'a\0b', 'x'.repeat(600)]) {
      expect(await itself('GET', '/collections', undefined, { organisation })).toMatchObject(INVALID)
    }
  })
})

async function mintStranger() {
  const person = id('person')
  await world.db.person.create({ data: { id: person, firstName: 'S', lastName: 'S', email: '' } })
  return person
}

it('100 requests of an app itself may wait, beside those of its members', async () => {
  const streams = await Promise.all(Array.from({ length: 100 }, () => openStream()))
  const message = 'Too many requests of this member, app or team already wait for changes.'
  const refusal = await openStream().catch((refused: unknown) => refused)
  expect(refusal).toMatchObject({ status: 429, body: { error: { code: 'rate_limited', message } } })
  const ofMember = await openStream({ client_id: server.client })
  const other = await openStream((await mintAppServer(world)).claims)
  for (const stream of [...streams, ofMember, other]) stream.close()
  await expect.poll(() => world.longPollSlots.size).toBe(0)
})

it("the requests of an app itself count for its team's limit", async () => {
  const { headers } = await itself('GET', '/collections')
  const remaining = ({ headers }: { headers: Record<string, unknown> }) =>
    Number(/r=(\d+)/.exec(String(headers.ratelimit))![1])
  expect(remaining(await asMember('GET', '/collections'))).toBe(remaining({ headers }) - 1)
})
