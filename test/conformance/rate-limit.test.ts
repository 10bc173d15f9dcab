import { afterEach, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { table } from '../support/markdown-table.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

/** The limits of quiz-and-webhook.md in requests per minute and team. */
const limits = table<'Access level' | 'Production' | 'Sandbox'>(`
  | Access level | Production | Sandbox  |
  |--------------|------------|----------|
  | hobby        | 60         | no limit |
  | developer    | 10000      | no limit |
`)

let world: World
afterEach(() => world.close())

async function team(level: 'hobby' | 'developer') {
  world = await startWorld()
  const { db, ids } = world
  await db.team.update({ where: { id: ids.team }, data: { level } })
  const another = { production: id('client'), sandbox: id('client') }
  for (const environment of ['production', 'sandbox'] as const) {
    await db.client.create({
      data: { id: another[environment], name: 'Client', teamId: ids.team, appId: ids.app, environment },
    })
  }
  return another
}

const get = (client?: string, path = '/') => world.call('GET', path, client ? { claims: { client_id: client } } : {})

describe.each(limits.map((row) => [row['Access level'], row.Production]))('a %s team', (level, Production) => {
  it(`has ${Production} requests a minute, in headers of its production clients only`, async () => {
    const another = await team(level as 'hobby' | 'developer')
    const first = await get()
    expect(first.headers).toMatchObject({
      'ratelimit-policy': `"team";q=${Production};w=60`,
      ratelimit: `"team";r=${Number(Production) - 1};t=60`,
    })
    const sandbox = await get(another.sandbox)
    expect(sandbox.status).toBe(200)
    expect(sandbox.headers).not.toHaveProperty('ratelimit')
    expect(sandbox.headers).not.toHaveProperty('ratelimit-policy')
  })
})

describe('the limit of a Hobby team', () => {
  it('is shared by its clients and tokens: request 60 passes, request 61 is refused', async () => {
    const another = await team('hobby')
    const replies = []
    for (let i = 0; i < 60; i++) replies.push(await get(i % 2 ? another.production : undefined))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(replies.at(-1)!.headers.ratelimit).toBe('"team";r=0;t=60')

    const refused = await get()
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(refused.headers).toMatchObject({ 'retry-after': '60', ratelimit: '"team";r=0;t=60' })
    expect(await get(another.production)).toMatchObject({ status: 429 })
    expect(await get(another.sandbox)).toMatchObject({ status: 200 })
  })

  it('leaves the requests of another team alone', async () => {
    await team('hobby')
    const [another, client] = [id('team'), id('client')]
    const clients = { create: { id: client, name: 'Client', environment: 'production' as const } }
    await world.db.team.create({ data: { id: another, name: 'Another', level: 'hobby', clients } })
    await Promise.all(Array.from({ length: 60 }, () => get()))
    expect(await get()).toMatchObject({ status: 429 })
    const { headers } = await get(client)
    expect(headers.ratelimit).toMatch(/^"team";r=59;t=/)
    expect(await get()).toMatchObject({ status: 429 })
  })

  it('counts authenticated requests of any status, in all sections, over tRPC, and each call of a batch', async () => {
    await team('hobby')
    const remaining = async () => Number(/r=(\d+)/.exec(String((await get()).headers.ratelimit))![1])
    const bearer = { headers: { authorization: `Bearer ${await world.token()}` } }
    expect(await remaining()).toBe(59)
    await world.call('GET', '/me/profile', { claims: { scope: '' } })
    await world.call('GET', '/storage/a.b')
    await world.call('GET', `/apps/${world.ids.app}/webhook`)
    expect(await remaining()).toBe(55)
    await world.call('GET', '/me/profile', { token: null })
    await world.call('OPTIONS', '/me/profile', { token: null })
    await world.call('GET', '/nothing')
    expect(await remaining()).toBe(54)
    await world.internal('GET', '/trpc/root', bearer)
    await world.internal('GET', '/trpc/root,me.profile,nothing?batch=1', bearer)
    expect(await remaining()).toBe(49)
    await world.internal('POST', '/trpc/storage.put', { ...bearer, body: '{' })
    expect(await remaining()).toBe(47)
    await world.internal('GET', '/trpc/nothing,none,no?batch=1', bearer)
    expect(await remaining()).toBe(43)
    const call = callAs(world.core, world.principal())
    for (let i = 0; i < 100; i++) await call.root()
    expect(await remaining()).toBe(42)
  })

  it('lets the remaining calls of a batch through', async () => {
    await team('hobby')
    for (let i = 0; i < 55; i++) await get()
    const { status, body } = await world.internal('GET', `/trpc/${Array(10).fill('root').join(',')}?batch=1`, {
      headers: { authorization: `Bearer ${await world.token()}` },
    })
    expect(status).toBe(207)
    expect(body.filter((one: { result?: object }) => one.result)).toHaveLength(5)
    expect(body.at(-1).error.data).toMatchObject({ httpStatus: 429, error: 'rate_limited' })
  })

  it('is reset after the window, so that a request after Retry-After passes', async () => {
    await team('hobby')
    await Promise.all(Array.from({ length: 60 }, () => get()))
    for (const [seconds, retryAfter] of [
      [0, '60'],
      [0.001, '60'],
      [58.998, '2'],
      [0.001, '1'],
      [0.999, '1'],
    ] as const) {
      world.advance(seconds)
      const ratelimit = `"team";r=0;t=${retryAfter}`
      expect(await get()).toMatchObject({ status: 429, headers: { 'retry-after': retryAfter, ratelimit } })
    }
    world.advance(0.001)
    expect(await get()).toMatchObject({ status: 200, headers: { ratelimit: '"team";r=59;t=60' } })
  })
})
