import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { memberMarks } from '../../routers/kernel/cipher.ts'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import type { Refused } from '../../server/request-log/write.ts'
import { write } from '../../server/request-log/write.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { createDeveloper } from './developers.ts'

const world = useWorld()
let developer: Awaited<ReturnType<typeof createDeveloper>>
beforeAll(async () => {
  developer = await createDeveloper(world)
})
beforeEach(() => world.db.refusedRequest.deleteMany({ where: { teamId: world.ids.team } }))

const kept = async () => {
  await world.requestLog.flush()
  return (await developer.requests.list({ team: world.ids.team })).items
}

/** What has no endpoint is entered after its answer. */
async function keptAfter(count: number) {
  await expect.poll(kept).toHaveLength(count)
  return kept()
}

describe('the request log', () => {
  it('keeps a refusal with its endpoint, error and sentence, and no success', async () => {
    await world.call('GET', '/me/profile')
    const { headers } = await world.call('PUT', '/storage/c/k', { claims: { scope: '' }, body: { value: 1 } })
    expect(await kept()).toEqual([
      {
        requestId: headers['x-request-id'],
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        client: world.ids.client,
        clientName: 'Client',
        method: 'PUT',
        route: '/storage/{collection}/{key}',
        status: 403,
        error: 'scopeMissing',
        message: 'This token does not carry the svc.apps.storage:write scope.',
        ms: expect.any(Number),
        sent: null,
      },
    ])
  })

  it('keeps nothing of path, query, body, headers and member, whatever is refused', async () => {
    const word = (place: string) => `planted-${place}`
    await world.db.person.create({ data: { id: word('member'), firstName: '', lastName: '', email: '' } })
    await world.db.membership.createMany({
      data: [world.ids.club, world.ids.academy].map((organisationId) => ({ organisationId, personId: word('member') })),
    })
    const claims = { sub: word('member') }
    const call = (method: string, path: string, body?: unknown) =>
      world.call(method, path, {
        claims,
        ...(body !== undefined && { body }),
        headers: { 'user-agent': word('agent'), referer: `https://${word('referer')}`, cookie: word('cookie') },
      })
    const key = `/storage/${word('collection')}/${word('key')}`
    const statuses = [
      await call('GET', `${key}?scope=${word('query')}`),
      await call('GET', `/me/events?start=${word('query')}`),
      await call('PUT', key, { [word('field')]: word('value') }),
      await call('PUT', key, `{"value": ${word('value')}`),
      await call('POST', `/quizzes/${word('quiz')}/submit`, { answers: { [word('question')]: word('answer') } }),
      await call('PATCH', key, word('value')),
      await call('GET', `/${word('path')}`),
      await call('GET', `/storage/${word('collection')}?limit=${word('limit')}`),
    ].map(({ status }) => status)
    expect(statuses).toEqual([422, 422, 400, 400, 404, 405, 404, 422])
    expect((await keptAfter(8)).map(({ status }) => status).toSorted()).toEqual(statuses.toSorted())
    const rows = await world.db.$queryRaw<{ row: string }[]>`
      SELECT r::text AS row FROM "RefusedRequest" r UNION ALL SELECT u::text FROM "ClientUsage" u`
    expect(rows.filter(({ row }) => row.includes('planted'))).toEqual([])
  })

  it('keeps a wrong host, method and address of a client with a token', async () => {
    await world.call('GET', '/me/profile', { host: 'lms.test' })
    await world.call('PATCH', '/me/profile')
    await world.call('GET', '/nothing')
    const found = (await keptAfter(3)).map(({ error, method, route }) => [error, method, route])
    expect(found.toSorted()).toEqual([
      ['addressUnknown', 'GET', null],
      ['hostWrong', 'GET', '/me/profile'],
      ['methodWrong', 'PATCH', '/me/profile'],
    ])
  })

  it('keeps an expired token of its client, and no token that is not valid', async () => {
    const seconds = world.now()
    const token = await world.token({ iat: seconds - 60, exp: seconds - 1 })
    expect((await world.call('GET', '/me/profile', { token })).status).toBe(401)
    for (const wrong of [null, 'x', `${token.slice(0, -8)}AAAAAAAA`]) {
      expect((await world.call('GET', '/me/profile', { token: wrong })).status).toBe(401)
      await world.call('GET', '/nothing', { token: wrong })
    }
    const platform = { client_id: world.ids.platform }
    expect((await world.call('GET', '/storage/c', { claims: platform })).status).toBe(403)
    expect((await kept()).map(({ error, client }) => [error, client])).toEqual([['tokenExpired', world.ids.client]])
  })

  it('is read newest first, by page, client and status, and by request id', async () => {
    const other = id('client')
    const { team, app } = world.ids
    await world.db.client.create({
      data: { id: other, name: 'Other', teamId: team, appId: app, environment: 'sandbox' },
    })
    const refuse = (name: string, path: string, client_id?: string) =>
      world.call('GET', path, { headers: { 'x-request-id': name }, claims: { ...(client_id && { client_id }) } })
    await refuse('one', '/storage/c/k')
    await refuse('two', '/storage/c/k?scope=x', other)
    await refuse('same', '/storage/c/k')
    await refuse('same', '/storage/c/k', other)
    await kept()

    const list = developer.requests.list
    const first = await list({ team, limit: 3 })
    expect(first.items.map(({ requestId }) => requestId)).toEqual(['same', 'same', 'two'])
    const second = await list({ team, limit: 3, before: first.next! })
    expect([second.items.map(({ requestId }) => requestId), second.next]).toEqual([['one'], null])
    expect((await list({ team, client: other })).items.map(({ status }) => status)).toEqual([404, 422])
    expect((await list({ team, status: 422 })).items.map(({ requestId }) => requestId)).toEqual(['two'])
    const found = await developer.requests.get({ team, requestId: 'same' })
    expect(found.items.map(({ client }) => client)).toEqual([other, world.ids.client])
    expect(await developer.requests.get({ team, requestId: 'none' })).toEqual({ items: [], registrations: {} })
  })

  it('is read by endpoint, without 412 where it is asked for errors, and after a cursor', async () => {
    const { team } = world.ids
    await world.call('GET', '/storage/c/none')
    await world.call('PUT', '/storage/c/none', { body: { value: 1 }, headers: { 'if-match': '"another"' } })
    await kept()
    const statuses = async (filter: object) =>
      (await developer.requests.list({ team, ...filter })).items.map(({ status }) => status)
    expect(await statuses({})).toEqual([412, 404])
    expect(await statuses({ errors: true })).toEqual([404])
    expect(await statuses({ app: world.ids.app })).toEqual([412, 404])
    expect(await statuses({ app: 'another' })).toEqual([])
    expect(await statuses({ errors: true, status: 412 })).toEqual([412])
    const route = '/storage/{collection}/{key}'
    expect(await statuses({ method: 'PUT', route })).toEqual([412])
    expect(await statuses({ method: 'PUT', route: '/me/profile' })).toEqual([])
    const { newest } = await developer.requests.list({ team })
    expect(await statuses({ after: newest! })).toEqual([])
    await world.call('GET', '/storage/c/none?scope=x')
    await kept()
    expect(await statuses({ after: newest! })).toEqual([422])
    expect((await readRefusal(developer.requests.list({ team, after: '1; DROP' }))).status).toBe(422)
    for (const text of ['client', 'method', 'route'])
      expect((await readRefusal(developer.requests.list({ team, [text]: '\0' }))).status, text).toBe(422)
  })

  it('is read by a member whose id is known, and stores only a keyed hash, which goes with an erasure', async () => {
    const { db, ids, core } = world
    const { team } = ids
    const other = id('member')
    await db.person.create({ data: { id: other, firstName: '', lastName: '', email: '' } })
    await db.membership.create({ data: { organisationId: ids.club, personId: other } })
    await world.call('GET', '/storage/c/none')
    await world.call('GET', '/storage/c/none', { claims: { sub: other } })
    await world.call('PATCH', '/me/profile', { claims: { sub: other } })
    await keptAfter(3)
    const statuses = async (member: string) =>
      (await developer.requests.list({ team, member })).items.map(({ status }) => status)
    expect([await statuses(other), await statuses(ids.member), await statuses('nobody')]).toEqual([
      [405, 404],
      [404],
      [],
    ])
    const members = await db.refusedRequest.findMany({ where: { teamId: team }, select: { member: true } })
    for (const { member } of members) expect(member).toMatch(/^[0-9a-f]{32}$/)
    expect(await readRefusal(developer.requests.list({ team, member: 'a\0b' }))).toMatchObject({ status: 422 })

    await erase(db, other, memberMarks(core.cipher, other))
    expect([await statuses(other), await statuses(ids.member)]).toEqual([[], [404]])
    expect(await kept()).toHaveLength(3)
  })

  it('keeps no member of an invalid token, nor one whose request is entered during their erasure', async () => {
    const { db, ids, core } = world
    const erased = id('member')
    await db.person.create({ data: { id: erased, firstName: '', lastName: '', email: '' } })
    const enter = async (error: ApiError) => {
      const request = { requestId: id('r'), method: 'GET', route: '/me/profile', ms: 1, member: erased }
      world.requestLog.refused(ids.client, core.now(), error, request)
      await world.requestLog.flush()
    }
    const marks = memberMarks(core.cipher, erased)
    await meanwhile(
      db,
      (tx) => tx.$queryRaw`SELECT id FROM "Person" WHERE id = ${erased} FOR UPDATE`,
      () => erase(db, erased, marks),
      { goOn: () => enter(errors.rateLimited(1)) },
    )
    await enter(errors.tokenInvalid())
    const rows = await db.refusedRequest.findMany({
      where: { teamId: ids.team },
      select: { error: true, member: true },
    })
    expect(rows).toHaveLength(2)
    for (const { member } of rows) expect(member).toBeNull()
  })

  it('is read by member with each key of SECRETS_KEY', async () => {
    const [former, now] = [randomBytes(32), randomBytes(32)]
    const own = { teamId: world.ids.team, clientId: world.ids.client, requestId: 'r' }
    const row = { ...own, method: 'GET', status: 404, error: '', ms: 1 }
    const [member] = memberMarks(createCipher([former]), 'anna')
    await world.db.refusedRequest.create({ data: { ...row, at: new Date(), member: member! } })
    const listed = async (keys: Buffer[]) => {
      const { cipher } = world.core
      world.core.cipher = createCipher(keys)
      const { items } = await developer.requests.list({ team: world.ids.team, member: 'anna' })
      world.core.cipher = cipher
      return items.length
    }
    expect([await listed([now, former]), await listed([now])]).toEqual([1, 0])
  })

  it('keeps 200 lines of a team and minute, also of several clients and nodes', async () => {
    const { db, ids } = world
    const other = id('client')
    await db.client.create({ data: { id: other, name: 'O', teamId: ids.team, environment: 'sandbox' } })
    const minute = Date.parse('2100-01-01T12:00:00Z')
    const refused = { status: 404, error: 'addressUnknown', message: null, ms: 1, member: null }
    const store = (...lines: Refused[]) => write(db, { refused: lines, answered: [], signIns: [], counts: [] })
    const lines = (clientId: string, count: number, at: number): Refused[] =>
      Array.from({ length: count }, (_, i) => ({
        clientId,
        requestId: `${i}`,
        at: at + i,
        method: 'GET',
        route: null,
        ...refused,
      }))
    await Promise.all([
      store(...lines(ids.client, 150, minute), ...lines(ids.client, 10, minute + 60_000)),
      store(...lines(other, 150, minute)),
    ])
    await store(...lines(id('removed'), 5, minute))
    const count = (from: number) =>
      db.refusedRequest.count({ where: { teamId: ids.team, at: { gte: new Date(from), lt: new Date(from + 60_000) } } })
    expect([await count(minute), await count(minute + 60_000)]).toEqual([200, 10])
  })
})

it('the request log of another team is 404 for requests and usage', async () => {
  const { core, ids } = world
  const stranger = callAs(core, {
    member: ids.member,
    organisation: '',
    client: ids.platform,
    scopes: new Set(['dev:read']),
  }).developer
  const team = ids.team
  for (const call of [
    () => stranger.requests.list({ team }),
    () => stranger.requests.get({ team, requestId: 'one' }),
    () => stranger.usage({ team }),
    () => developer.usage({ team: 'another' }),
  ])
    expect(await readRefusal(call())).toMatchObject({ status: 404, message: 'This team does not exist.' })
})
