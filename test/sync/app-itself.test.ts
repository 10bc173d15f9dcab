import { beforeEach, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { consentTo, mintAppServer, mintMember } from '../support/app-server.ts'
import { openEvents } from '../support/event-stream.ts'
import { meanwhile } from '../support/meanwhile.ts'
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
    const access = await world.core.findAccess(world.principal({ member: null, client: server.client }))
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

const call = (method: string, collection: string, body?: unknown, claims: object = server.claims) =>
  world.call(method, `/collections/${collection}/rules`, { body, claims: { ...claims } })
const set = (rule: unknown, collection = 'c', claims?: object) => call('PUT', collection, { rule }, claims)
const storedRules = () =>
  world.db.collectionRule.findMany({
    where: { appId: server.app },
    orderBy: { collection: 'asc' },
    select: { collection: true, rule: true },
  })
const audit = () =>
  world.db.auditEntry.findMany({
    where: { target: server.app },
    orderBy: { id: 'asc' },
    select: { action: true, personId: true, clientId: true, before: true, after: true },
  })
const addRules = (count: number) =>
  world.db.collectionRule.createMany({
    data: Array.from({ length: count }, (_, n) => ({ appId: server.app, collection: `c${n}`, rule: 'author' })),
  })

describe('the rules of a collection', () => {
  it('are read and set by the app itself, each change once in the audit log with the client', async () => {
    expect(await call('GET', 'c')).toMatchObject({ status: 200, body: { rule: 'anyone' } })
    for (const rule of ['author', 'author', 'app'] as const) {
      const reply = await set(rule)
      expect([reply.status, reply.body]).toEqual([200, { rule }])
    }
    expect((await call('GET', 'c')).body).toEqual({ rule: 'app' })
    expect(await storedRules()).toEqual([{ collection: 'c', rule: 'app' }])
    for (const _ of [1, 2]) expect((await set('anyone')).body).toEqual({ rule: 'anyone' })
    expect(await storedRules()).toEqual([])
    const entry = (before: string, rule: string) => ({
      action: 'rule.set',
      personId: null,
      clientId: server.client,
      before: { rule: before },
      after: { collection: 'c', rule },
    })
    expect(await audit()).toEqual([entry('anyone', 'author'), entry('author', 'app'), entry('app', 'anyone')])
  })

  it('bind members within 5 seconds', async () => {
    const put = () => world.call('PUT', '/storage/c/k', { body: { value: 1 }, claims: { client_id: server.client } })
    expect((await put()).status).toBe(200)
    await set('app')
    world.advance(5)
    expect((await put()).body).toEqual({ detail: 'This entry belongs to another member.' })
  })

  it('are at most 100, also when two are added at once', async () => {
    await addRules(99)
    const refused = await meanwhile(
      world.db,
      async (tx) => {
        await tx.$queryRaw`SELECT FROM "Team" WHERE id = ${world.ids.team} FOR NO KEY UPDATE`
        await tx.collectionRule.create({ data: { appId: server.app, collection: 'c99', rule: 'app' } })
      },
      () => set('author', 'c100'),
    )
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict', reason: 'too_many_rules' } } })
    expect(await storedRules()).toHaveLength(100)
    expect(await audit()).toEqual([])
    expect((await set('app', 'c7')).status).toBe(200)
    expect((await set('anyone', 'c99')).status).toBe(200)
    expect((await set('author', 'c100')).status).toBe(200)
  })

  it('change at most 1,000 times in 24 hours by the clients of a team, beside its people', async () => {
    const now = world.now() * 1000
    const entry = { teamId: world.ids.team, action: 'rule.set', target: 'earlier', at: new Date(now - 3_600_000) }
    const data = Array.from({ length: 1_000 }, () => entry)
    await world.db.auditEntry.createMany({ data: data.map((one) => ({ ...one, personId: world.ids.member })) })
    expect((await set('author')).status).toBe(200)
    await world.db.auditEntry.createMany({ data: data.map((one) => ({ ...one, clientId: server.client })) })
    const before = [await storedRules(), await audit()]
    const refused = await set('app')
    expect([refused.status, refused.body.error.message]).toEqual([
      429,
      expect.stringMatching(/^A team can make at most 1000 changes per day; try again in \d+ s\.$/),
    ])
    expect([await storedRules(), await audit()]).toEqual(before)
    expect((await set('author')).status).toBe(200)
    await world.db.auditEntry.deleteMany({ where: { target: 'earlier' } })
  })
})

const RULES = 'rule is anyone, author or app.'

describe('a rule is refused', () => {
  it.each<[string, () => Parameters<typeof call>, number, string]>([
    ['of an unknown kind', () => ['PUT', 'c', { rule: 'owner' }], 400, RULES],
    ['that is missing', () => ['PUT', 'c', {}], 400, RULES],
    ['that is null', () => ['PUT', 'c', { rule: null }], 400, RULES],
    ['in a list', () => ['PUT', 'c', []], 400, 'The body is not a JSON object.'],
    [
      'for an invalid name',
      () => ['PUT', 'a.b', { rule: 'app' }],
      422,
      "Names use 1 to 64 letters, digits, '_' or '-'.",
    ],
    [
      'by a member',
      () => ['PUT', 'c', { rule: 'author' }, { client_id: server.client }],
      403,
      'Only the app itself can do this.',
    ],
    [
      'to a member who reads it',
      () => ['GET', 'c', undefined, { client_id: server.client }],
      403,
      'Only the app itself can do this.',
    ],
    [
      'with the scope to read',
      () => ['PUT', 'c', { rule: 'author' }, { ...server.claims, scope: 'svc.apps.storage:read' }],
      403,
      'This token does not carry the svc.apps.storage:write scope.',
    ],
    [
      'by a client of the platform',
      () => ['PUT', 'c', { rule: 'author' }, { ...server.claims, client_id: world.ids.platform }],
      401,
      'This token is not valid.',
    ],
  ])('%s', async (_, request, status, message) => {
    await set('app')
    const before = [await storedRules(), await audit()]
    const refused = await call(...request())
    expect([refused.status, refused.body.error.message]).toEqual([status, message])
    expect([await storedRules(), await audit()]).toEqual(before)
  })

  it('by another app, whose own rule it is', async () => {
    const other = await mintAppServer(world)
    await set('author')
    expect((await call('GET', 'c', undefined, other.claims)).body).toEqual({ rule: 'anyone' })
    await set('app', 'c', other.claims)
    expect(await storedRules()).toEqual([{ collection: 'c', rule: 'author' }])
  })

  it('once the app is removed, before this is noticed', async () => {
    await set('author')
    await world.db.client.delete({ where: { id: server.client } })
    await world.db.app.delete({ where: { id: server.app } })
    expect((await set('app')).status).toBe(401)
    expect(await storedRules()).toEqual([])
  })
})
