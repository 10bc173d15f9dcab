import { beforeEach, describe, expect, it } from 'vitest'
import { mintAppServer } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld()
let server: Awaited<ReturnType<typeof mintAppServer>>
beforeEach(async () => {
  server = await mintAppServer(world)
})

const call = (method: string, collection: string, body?: unknown, claims: object = server.claims) =>
  world.call(method, `/collections/${collection}/rules`, { body, claims: { ...claims } })
const set = (rule: unknown, collection = 'c', claims?: object) => call('PUT', collection, { rule }, claims)
const stored = () =>
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
    expect(await stored()).toEqual([{ collection: 'c', rule: 'app' }])
    for (const _ of [1, 2]) expect((await set('anyone')).body).toEqual({ rule: 'anyone' })
    expect(await stored()).toEqual([])
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
    expect(await stored()).toHaveLength(100)
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
    const before = [await stored(), await audit()]
    const refused = await set('app')
    expect([refused.status, refused.body.error.message]).toEqual([
      429,
      expect.stringMatching(/^A team can make at most 1000 changes per day; try again in \d+ s\.$/),
    ])
    expect([await stored(), await audit()]).toEqual(before)
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
    const before = [await stored(), await audit()]
    const refused = await call(...request())
    expect([refused.status, refused.body.error.message]).toEqual([status, message])
    expect([await stored(), await audit()]).toEqual(before)
  })

  it('by another app, whose own rule it is', async () => {
    const other = await mintAppServer(world)
    await set('author')
    expect((await call('GET', 'c', undefined, other.claims)).body).toEqual({ rule: 'anyone' })
    await set('app', 'c', other.claims)
    expect(await stored()).toEqual([{ collection: 'c', rule: 'author' }])
  })

  it('once the app is removed, before this is noticed', async () => {
    await set('author')
    await world.db.client.delete({ where: { id: server.client } })
    await world.db.app.delete({ where: { id: server.app } })
    expect((await set('app')).status).toBe(401)
    expect(await stored()).toEqual([])
  })
})
