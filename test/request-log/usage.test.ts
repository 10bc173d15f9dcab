import { beforeAll, describe, expect, it } from 'vitest'
import { forgetAnswered, forgetRefused, forgetUsage } from '../../server/request-log/forget.ts'
import { addEntry } from '../directory/person-rows.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'
import { createDeveloper } from './developers.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const world = useWorld()
let developer: Awaited<ReturnType<typeof createDeveloper>>
beforeAll(async () => {
  developer = await createDeveloper(world)
})

describe('the usage of a team', () => {
  it('counts what was answered, refused and limited, by client, over all nodes', async () => {
    const { db, ids } = world
    const { team, app } = ids
    await db.team.update({ where: { id: team }, data: { level: 'hobby' } })
    const other = id('client')
    await db.client.create({ data: { id: other, name: 'O', teamId: team, appId: app, environment: 'sandbox' } })
    const path = (i: number) => (i % 10 === 0 ? '/storage/c/none' : '/me/profile')
    await Promise.all(Array.from({ length: 60 }, (_, i) => world.call('GET', path(i))))
    for (let i = 0; i < 2; i++) expect((await world.call('GET', '/me/profile')).status).toBe(429)
    await world.requestLog.flush()
    const node = await startWorld({ like: world })
    for (const at of [node, world]) await at.call('GET', '/me/profile', { claims: { client_id: other } })
    await node.requestLog.flush()
    await node.close()
    await world.requestLog.flush()

    for (const by of ['minute', 'hour'] as const) {
      const { limit, lastHour, counts, clients } = await developer.usage({ team, by })
      expect([limit, lastHour]).toEqual([60, { ok: 56, refused: 6, limited: 2 }])
      const sums = counts.reduce((sum, { ok, refused, limited }) => sum + ok + refused + limited, 0)
      expect(sums).toBe(64)
      const unit = by === 'minute' ? 60 : 3_600
      for (const { at } of counts) expect(at % unit).toBe(0)
      expect(clients).toEqual([
        { client: ids.client, name: 'Client', ok: 54, refused: 6, limited: 2 },
        { client: other, name: 'O', ok: 2, refused: 0, limited: 0 },
      ])
    }
    expect((await developer.usage({ team, client: other })).lastHour).toEqual({ ok: 2, refused: 0, limited: 0 })
  })

  it('is split by app, and that of one app has its clients and stores alone', async () => {
    const { db, ids } = world
    const { team, provider: providerId, club } = ids
    const [busy, quiet] = [id('app'), id('app')]
    const clients = [id('client'), id('client'), id('client')] as const
    await db.app.createMany({
      data: [busy, quiet].map((app) => ({ id: app, name: app, teamId: team, providerId })),
    })
    await db.client.createMany({
      data: [busy, busy, quiet].map((appId, at) => ({
        id: clients[at]!,
        name: 'C',
        teamId: team,
        appId,
        environment: 'sandbox' as const,
      })),
    })
    const gone = id('client')
    const row = {
      teamId: team,
      span: 'minute' as const,
      at: new Date(world.core.now() - 60_000),
      refused: 1,
      limited: 0,
    }
    await db.clientUsage.createMany({
      data: [...clients, gone].map((clientId, at) => ({ ...row, clientId, ok: 10_000 - at })),
    })
    await addEntry(db, { app: busy, club, owner: '', key: 'k', value: '"four"' })
    const { byApp } = await developer.usage({ team })
    expect(byApp.slice(0, 3)).toEqual([
      { app: busy, name: busy, ok: 19_999, refused: 2, limited: 0 },
      { app: quiet, name: quiet, ok: 9_998, refused: 1, limited: 0 },
      { app: null, name: null, ok: 9_997, refused: 1, limited: 0 },
    ])
    const own = await developer.usage({ team, app: busy })
    expect(own.lastHour).toEqual({ ok: 19_999, refused: 2, limited: 0 })
    expect(own.clients.map(({ client }) => client)).toEqual(clients.slice(0, 2))
    expect([own.apps, own.storage.map(({ app }) => app)]).toEqual([
      [{ app: busy, name: busy, stores: 1, bytes: 6 }],
      [busy],
    ])
    expect((await developer.usage({ team, app: quiet })).storage).toEqual([])
    const stranger = await developer.usage({ team, app: 'another' })
    expect([stranger.lastHour, stranger.byApp, stranger.apps]).toEqual([{ ok: 0, refused: 0, limited: 0 }, [], []])
    await db.app.deleteMany({ where: { id: { in: [busy, quiet] } } })
    await db.clientUsage.deleteMany({ where: { teamId: team, clientId: { in: [...clients, gone] } } })
  })

  it('has the bytes of each app, and its largest stores', async () => {
    const { team, app, club } = world.ids
    const empty = id('app')
    await world.db.app.create({ data: { id: empty, name: 'Z', teamId: team, providerId: world.ids.provider } })
    await world.db.team.update({ where: { id: team }, data: { level: 'developer' } })
    world.advance(5)
    expect((await world.call('PUT', '/storage/c/k', { body: { value: 'four' } })).status).toBe(200)
    const { apps, storage } = await developer.usage({ team })
    expect(apps).toEqual([
      { app, name: 'App', stores: 1, bytes: 6 },
      { app: empty, name: 'Z', stores: 0, bytes: 0 },
    ])
    expect(storage).toEqual([{ app, club, bytes: 6, limit: 10 * 1024 * 1024 }])
  })
})

it('housekeeping removes requests after 7 days, minutes after a day and hours after 30 days, in portions', async () => {
  const { db, ids } = world
  const { team, client } = ids
  // In the past, where no other test has rows.
  const now = Date.parse('1990-01-31T12:00:00Z')
  const own = { teamId: team, clientId: client }
  const refusal = { ...own, method: 'GET', status: 404, error: 'keyUnknown', ms: 1 }
  const usage = { ...own, ok: 1, refused: 0, limited: 0 }
  const line = (requestId: string, age: number) => ({ ...refusal, requestId, at: new Date(now - age) })
  const count = (span: 'minute' | 'hour', age: number) => ({ ...usage, span, at: new Date(now - age) })
  await db.refusedRequest.createMany({
    data: [line('kept', 7 * DAY_MS - 1), line('old', 7 * DAY_MS), line('older', 8 * DAY_MS)],
  })
  const { error: _, ...answered } = { ...refusal, appId: world.ids.app, route: '/me/profile', status: 200 }
  await db.answeredRequest.createMany({
    data: [7 * DAY_MS - 1, 7 * DAY_MS].map((age) => ({ ...answered, requestId: 'r', at: new Date(now - age) })),
  })
  const kept = [count('minute', DAY_MS - 1), count('hour', 30 * DAY_MS - 1)]
  await db.clientUsage.createMany({
    data: [...kept, count('minute', DAY_MS), count('minute', 2 * DAY_MS), count('hour', 30 * DAY_MS)],
  })
  const portions = async (step: typeof forgetRefused) => {
    const removed = [await step(db, now, 1)]
    while (removed.at(-1) !== 0) removed.push(await step(db, now, 1))
    return removed
  }
  expect(await portions(forgetRefused)).toEqual([1, 1, 0])
  expect(await portions(forgetAnswered)).toEqual([1, 0])
  expect(await portions(forgetUsage)).toEqual([1, 1, 1, 0])
  const before = { teamId: team, at: { lte: new Date(now) } }
  expect((await db.refusedRequest.findMany({ where: before })).map(({ requestId }) => requestId)).toEqual(['kept'])
  const left = await db.clientUsage.findMany({ where: before, orderBy: { at: 'desc' } })
  expect(left.map(({ span, at }) => ({ span, at }))).toEqual(kept.map(({ span, at }) => ({ span, at })))
})
