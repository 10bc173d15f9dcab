import { beforeAll, beforeEach, expect, it } from 'vitest'
import { memberMarks } from '../../routers/kernel/cipher.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { ANSWERED_KEPT, MAX_ANSWERED, MAX_REFUSED, write } from '../../server/request-log/write.ts'
import { readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { createDeveloper } from './developers.ts'

const world = useWorld()
let developer: Awaited<ReturnType<typeof createDeveloper>>
beforeAll(async () => {
  developer = await createDeveloper(world)
})
beforeEach(async () => {
  const where = { teamId: world.ids.team }
  await world.requestLog.flush()
  await world.db.refusedRequest.deleteMany({ where })
  await world.db.answeredRequest.deleteMany({ where })
})

const list = async (filter: object = {}) => {
  await world.requestLog.flush()
  return developer.requests.list({ team: world.ids.team, successes: true, ...filter })
}
const minute = Date.parse('2100-01-01T12:00:00Z')

/** Lines of a minute, each a millisecond after the one before. */
const answered = (clientId: string, count: number, at = minute) =>
  Array.from({ length: count }, (_, n) => ({
    clientId,
    requestId: `${n}`,
    at: at + n,
    method: 'GET',
    route: '/me/profile',
    status: 200,
    ms: 1,
    member: null,
  }))
const refused = (clientId: string, count: number, at = minute) =>
  answered(clientId, count, at).map((line) => ({ ...line, status: 404, error: 'keyUnknown', message: null }))

it('a success is listed on demand, with its endpoint and status, and found by its request id', async () => {
  const { ids } = world
  const { headers } = await world.call('GET', '/me/profile')
  await world.call('GET', '/storage/c/none')
  const success = {
    requestId: headers['x-request-id'],
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    client: ids.client,
    clientName: 'Client',
    method: 'GET',
    route: '/me/profile',
    status: 200,
    error: null,
    message: null,
    ms: expect.any(Number),
    sent: null,
  }
  const { items, newest } = await list()
  expect(items).toEqual([expect.objectContaining({ status: 404 }), success])
  expect((await developer.requests.list({ team: ids.team })).items.map(({ status }) => status)).toEqual([404])
  expect(await developer.requests.get({ team: ids.team, requestId: success.requestId as string })).toEqual({
    items: [success],
    registrations: {},
  })
  const statuses = async (filter: object) => (await list(filter)).items.map(({ status }) => status)
  expect(await statuses({ method: 'GET', route: '/me/profile' })).toEqual([200])
  expect([await statuses({ app: ids.app }), await statuses({ app: 'another' })]).toEqual([[404, 200], []])
  expect([await statuses({ member: ids.member }), await statuses({ member: 'nobody' })]).toEqual([[404, 200], []])
  await world.call('PUT', '/storage/c/k', { body: { value: 1 } })
  expect(await statuses({ after: newest! })).toEqual([200])
})

it('the row of a success has nothing of path, query, body, headers and member, and loses the hash with the member', async () => {
  const { db, ids, core } = world
  const word = (place: string) => `hidden-${place}`
  await db.person.create({ data: { id: word('member'), firstName: '', lastName: '', email: '' } })
  await db.membership.create({ data: { organisationId: ids.club, personId: word('member') } })
  const headers = { 'user-agent': word('agent'), cookie: word('cookie') }
  const claims = { sub: word('member') }
  const key = `/storage/${word('collection')}/${word('key')}`
  expect((await world.call('PUT', key, { body: { value: word('value') }, claims, headers })).status).toBe(200)
  expect((await list({ member: word('member') })).items).toHaveLength(1)
  const rows = await db.$queryRaw<{ row: string }[]>`
    SELECT r::text AS row FROM "AnsweredRequest" r WHERE "teamId" = ${ids.team}`
  expect(rows).toHaveLength(1)
  expect(rows[0]!.row).not.toContain('hidden')

  await erase(db, word('member'), memberMarks(core.cipher, word('member')))
  expect((await list({ member: word('member') })).items).toEqual([])
  expect(await db.answeredRequest.findMany({ where: { teamId: ids.team }, select: { member: true } })).toEqual([
    { member: null },
  ])
})

it('keeps the first successes of an app and minute, of several clients and nodes, and all refusals beside them', async () => {
  const { db, ids } = world
  const other = id('client')
  const { team: teamId, app: appId } = ids
  await db.client.create({ data: { id: other, name: 'O', teamId, appId, environment: 'sandbox' } })
  const [flood, next] = [answered(ids.client, 500), answered(other, 500)]
  await Promise.all([
    write(db, { refused: refused(ids.client, MAX_REFUSED), answered: flood, signIns: [], counts: [] }),
    write(db, { refused: [], answered: next, signIns: [], counts: [] }),
  ])
  await write(db, {
    refused: [],
    answered: [...answered(id('removed'), 5), ...answered(ids.platform, 5)],
    signIns: [],
    counts: [],
  })
  await write(db, { refused: [], answered: answered(other, 1, minute + 60_000), signIns: [], counts: [] })
  const where = { teamId: ids.team }
  expect(await db.answeredRequest.count({ where })).toBe(MAX_ANSWERED + 1)
  expect(await db.refusedRequest.count({ where })).toBe(MAX_REFUSED)
  expect((await list({ limit: 1, successes: false })).items.map(({ status }) => status)).toEqual([404])
})

it('gathers no more successes of a client than are stored of a minute', async () => {
  const { ids, db, requestLog } = world
  const success = { requestId: 'r', method: 'GET', route: '/me/profile', status: 200, ms: 1, member: ids.member }
  for (let n = 0; n < 3 * MAX_ANSWERED; n++) requestLog.answered(ids.client, minute + 600_000 + n, success)
  await requestLog.flush()
  expect(await db.answeredRequest.count({ where: { teamId: ids.team } })).toBe(MAX_ANSWERED)
  const { ok } = (await db.clientUsage.findFirst({
    where: { teamId: ids.team, at: new Date(minute + 600_000), span: 'minute' },
  }))!
  expect(ok).toBe(3 * MAX_ANSWERED)
})

it('keeps the newest 1,000 successes of each app', async () => {
  const { db, ids } = world
  const [other, client] = [id('app'), id('client')]
  const { team: teamId, provider: providerId } = ids
  await db.app.create({ data: { id: other, name: 'Other', teamId, providerId } })
  await db.client.create({ data: { id: client, name: 'O', teamId, appId: other, environment: 'sandbox' } })
  const row = ({ member: _, at, ...line }: ReturnType<typeof answered>[number], appId: string) => ({
    ...line,
    teamId,
    appId,
    at: new Date(at),
  })
  await db.answeredRequest.createMany({
    data: [
      ...answered(ids.client, ANSWERED_KEPT, minute - 3_600_000).map((line) => row(line, ids.app)),
      ...answered(client, 3, minute - 3_600_000).map((line) => row(line, other)),
    ],
  })
  await write(db, {
    refused: [],
    answered: [...answered(ids.client, 5), ...answered(client, 1)],
    signIns: [],
    counts: [],
  })
  const count = (appId: string) => db.answeredRequest.count({ where: { appId } })
  expect([await count(ids.app), await count(other)]).toEqual([ANSWERED_KEPT, 4])
  const first = await db.answeredRequest.findFirst({ where: { appId: ids.app }, orderBy: { at: 'asc' } })
  expect(first?.requestId).toBe('5')
})

it('pages of successes and refusals of the same millisecond miss none and repeat none', async () => {
  const { db, ids } = world
  const same = <T extends { at: number }>(lines: T[]) => lines.map((line) => ({ ...line, at: minute }))
  const lines = {
    refused: same(refused(ids.client, 7)),
    answered: same(answered(ids.client, 7)),
    signIns: [],
    counts: [],
  }
  await write(db, lines)
  const seen: string[] = []
  let before: string | undefined
  do {
    const { items, next } = await list({ limit: 3, before })
    seen.push(...items.map(({ status, requestId }) => `${status} ${requestId}`))
    before = next ?? undefined
  } while (before !== undefined)
  expect(new Set(seen).size).toBe(14)
  expect(seen).toHaveLength(14)
})

it('refuses to list successes of another team with 404, and of a cursor that is none with 422', async () => {
  const stranger = developer.requests.list({ team: 'another', successes: true })
  expect(await readRefusal(stranger)).toMatchObject({ status: 404 })
  const wrong = developer.requests.list({ team: world.ids.team, successes: true, before: '1-1-1' })
  expect(await readRefusal(wrong)).toMatchObject({ status: 422 })
})
