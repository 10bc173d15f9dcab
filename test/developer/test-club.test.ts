import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { moveTestEvents } from '../../routers/developer/test-club/events.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { readRefusal } from '../support/platform.ts'
import type { Call } from '../support/request.ts'
import { addPeople, redirect } from './team-world.ts'

const DAY_S = 86_400

const auth = authWorld()
let team: Awaited<ReturnType<typeof addPeople>>
let client: string
let overview: NonNullable<Awaited<ReturnType<typeof readOverview>>>
const tokens: Record<string, string> = {}

const id = () => auth.world.ids.team
const api = () => team.as(team.colleague)
const readOverview = async () => (await api().testClub.get({ team: id() })).testClub

beforeAll(async () => {
  team = await addPeople(auth.world)
  await auth.world.db.app.update({ where: { id: auth.world.ids.app }, data: { webhookUrl: 'https://hooks.example/' } })
  client = (await team.sandbox({ scopes: memberScopes })).id
  overview = (await readOverview())!
  const alex = overview.members.find(({ name }) => name === 'Alex Test')!
  for (const [prefix, organisation] of [
    ['svc.', overview.club],
    ['lms.', overview.academy],
    ['ntf.', overview.provider!],
  ] as const) {
    const scope = memberScopes.filter((one) => one.startsWith(prefix)).join(' ')
    const asked = { client, scope, redirectUri: redirect }
    const { access_token } = await auth.toTokens(asked, team.colleague, `${organisation.id} ${alex.id}`)
    tokens[prefix] = access_token
  }
})

const call = (method: string, path: string, prefix = 'svc.', more: Call = {}) =>
  auth.world.call(method, path, { token: tokens[prefix]!, ...more })
const submit = async () => {
  const { id: quiz } = overview.quizzes.find(({ name }) => name === 'Practice')!
  const { body } = await call('POST', `/quizzes/${quiz}/results`, 'lms.', {
    body: { answers: { q1: 'Yes', q2: 'A game' } },
  })
  return body.id as string
}
const eventsNow = async () => {
  const now = Math.floor(auth.world.core.now() / 1000)
  const { body } = await call('GET', `/me/events?start=${now - 30 * DAY_S}&end=${now + 60 * DAY_S}`)
  return body.items as { id: string; start: number; end: number }[]
}

describe('a test club', () => {
  it('has content for every endpoint, for a sandbox client', async () => {
    const { ids } = auth.world
    for (const path of ['/me/groups', '/me/events', '/me/trainingplans', '/me/competitions', '/storage/scores']) {
      const { status, body } = await call('GET', path)
      expect([path, status, body.items.length > 1]).toEqual([path, 200, true])
    }
    expect((await call('GET', '/me/profile')).body).toMatchObject({ firstName: 'Alex', birthday: '1988-05-14' })
    expect((await call('GET', '/me/membercard')).body.card).toMatchObject({ valid: true, memberNumber: '1001' })
    expect((await call('GET', '/storage/settings/theme')).body.value).toEqual({ colour: 'green', dark: false })
    const [choice] = overview.quizzes
    const answers = Object.fromEntries(
      choice!.questions.map(({ id, type, solution }) => [id, type === 'multiple' ? solution : solution[0]]),
    )
    const graded = await call('POST', `/quizzes/${choice!.id}/results`, 'lms.', { body: { answers } })
    expect([graded.status, graded.body.score]).toEqual([201, 100])
    const closed = overview.quizzes.find(({ state }) => state === 'closed')!
    expect((await call('POST', `/quizzes/${closed.id}/results`, 'lms.', { body: { answers: {} } })).status).toBe(409)
    const webhook = `/apps/${overview.app!.id}/webhook`
    expect((await call('PUT', webhook, 'ntf.', { body: { url: 'https://hooks.example/' } })).status).toBe(200)
    expect((await call('GET', webhook, 'ntf.')).body.url).toBe('https://hooks.example/')
    expect((await call('GET', `/apps/${ids.app}/webhook`, 'ntf.')).status).toBe(404)
  })

  it('has events from three weeks ago until six weeks ahead, and as many when time has passed', async () => {
    const { db, core } = auth.world
    const before = await eventsNow()
    expect(before.length).toBeGreaterThan(15)
    const all = await db.event.findMany({ where: { clubId: overview.club.id } })
    const days = [20, 100, 1_000]
    for (const passed of days) {
      const now = core.now() + passed * DAY_S * 1_000
      while ((await moveTestEvents(db, now, 7)) > 0) {}
      const moved = await db.event.findMany({ where: { clubId: overview.club.id } })
      expect(moved).toHaveLength(all.length)
      for (const { start, end } of moved) {
        expect(end.getTime()).toBeGreaterThanOrEqual(now - 21 * DAY_S * 1_000)
        expect(start.getTime()).toBeLessThan(now + 43 * DAY_S * 1_000)
      }
      const weekdays = (events: typeof all) => Object.fromEntries(events.map((one) => [one.id, one.start.getUTCDay()]))
      expect(weekdays(moved)).toEqual(weekdays(all))
    }
    await api().testClub.reset({ team: id() })
    expect(await eventsNow()).toEqual(before)
  })

  it('leaves the events of real clubs where they are', async () => {
    const { db, ids, core } = auth.world
    const long = new Date('2001-01-01T10:00:00Z')
    const event = await db.event.create({
      data: { id: `${ids.club}-past`, clubId: ids.club, title: 'Past', start: long, end: long, location: '' },
    })
    await moveTestEvents(db, core.now())
    expect(await db.event.findUnique({ where: { id: event.id } })).toEqual(event)
  })

  it('is not offered as a provider of apps, nor taken as one', async () => {
    const provider = overview.provider!.id
    expect((await api().apps.providers({ team: id() })).items.map((one) => one.id)).not.toContain(provider)
    const before = await team.stored()
    const create = (of: string, by: string) => readRefusal(team.as(by).apps.create({ team: of, name: 'New', provider }))
    expect((await create(id(), team.owner)).status).toBe(404)
    expect((await create(team.strangers, team.stranger)).status).toBe(404)
    expect(await team.stored()).toEqual(before)
  })
})

describe('developer.testClub.impact', () => {
  const impact = () => api().testClub.impact({ team: id() })

  it('counts what apps stored, with its bytes, and quiz results', async () => {
    await api().testClub.reset({ team: id() })
    const asNew = await impact()
    const { db } = auth.world
    const inClub = { where: { clubId: overview.club.id } }
    expect(asNew).toEqual({ entries: await db.storageEntry.count(inClub), bytes: expect.any(Number), results: 0 })
    await submit()
    await call('PUT', '/storage/notes/mine', 'svc.', { body: { value: 12345 } })
    expect(await impact()).toEqual({ entries: asNew.entries + 1, bytes: asNew.bytes + 5, results: 1 })
    await api().testClub.reset({ team: id() })
    expect(await impact()).toEqual(asNew)
  })

  it('is empty without a test club, and 404 for another team', async () => {
    const none = { entries: 0, bytes: 0, results: 0 }
    expect(await team.as(team.stranger).testClub.impact({ team: team.strangers })).toEqual(none)
    expect((await readRefusal(team.as(team.stranger).testClub.impact({ team: id() }))).status).toBe(404)
  })
})

describe('developer.testClub.reset', () => {
  it('removes what apps stored and all results, and keeps ids and tokens', async () => {
    await submit()
    const mine = { body: { value: 1 }, headers: { 'idempotency-key': 'mine' } }
    await call('PUT', '/storage/notes/mine', 'svc.', mine)
    await call('DELETE', '/storage/settings/theme')
    const { db } = auth.world
    await db.group.deleteMany({ where: { clubId: overview.club.id } })
    await api().testClub.reset({ team: id() })
    expect(await readOverview()).toEqual(overview)
    expect((await call('GET', '/storage/notes/mine')).status).toBe(404)
    expect(await db.storageRequest.count({ where: { clubId: overview.club.id } })).toBe(0)
    expect((await call('GET', '/storage/settings/theme')).status).toBe(200)
    expect((await call('GET', '/me/groups')).body.items).toHaveLength(2)
    const { items } = await api().audit.list({ team: id(), limit: 1, offset: 0 })
    expect(items).toMatchObject([{ action: 'testClub.reset', target: overview.club.id, by: { id: team.colleague } }])
  })

  it('adds what a test club of an earlier release does not have', async () => {
    const { db } = auth.world
    await db.app.delete({ where: { id: overview.app!.id } })
    await db.organisation.delete({ where: { id: overview.provider!.id } })
    await db.quiz.deleteMany({ where: { academyId: overview.academy.id } })
    expect(await readOverview()).toMatchObject({ provider: null, app: null, quizzes: [] })
    await api().testClub.reset({ team: id() })
    const whole = (await readOverview())!
    expect(whole).toMatchObject({ club: overview.club, academy: overview.academy, quizzes: overview.quizzes })
    expect([whole.members, whole.app?.name]).toEqual([overview.members, 'Test app'])
    overview = whole
  })

  it('creates the test club of a team that has none', async () => {
    expect(await team.as(team.stranger).testClub.get({ team: team.strangers })).toEqual({ testClub: null })
    await team.as(team.stranger).testClub.reset({ team: team.strangers })
    const { testClub } = await team.as(team.stranger).testClub.get({ team: team.strangers })
    expect(testClub).toMatchObject({
      club: { name: 'Test club of Strangers' },
      groups: [{}, {}],
      quizzes: [{}, {}, {}],
    })
  })

  it('is 404 for another team, whose test club stays', async () => {
    const all = () => auth.world.db.storageEntry.findMany({ where: { clubId: overview.club.id } })
    const before = await all()
    expect((await readRefusal(team.as(team.stranger).testClub.reset({ team: id() }))).status).toBe(404)
    expect((await readRefusal(team.as(team.stranger).testClub.get({ team: id() }))).status).toBe(404)
    expect(await all()).toEqual(before)
  })
})

describe('developer.testClub.review', () => {
  let result: string
  beforeEach(async () => {
    await api().testClub.reset({ team: id() })
    result = await submit()
  })

  const stored = async () => ({
    results: await auth.world.db.quizResult.findMany({ where: { id: result }, include: { answers: true } }),
    events: await auth.world.db.publishedEvent.count({ where: { app: { teamId: id() } } }),
  })

  it('decides the result, and sends quiz.reviewed to the webhooks of all apps of the team', async () => {
    const { db } = auth.world
    const { reviews } = (await readOverview())!
    const answers = expect.arrayContaining([{ question: expect.any(String), value: '"A game"' }])
    expect(reviews).toMatchObject([{ result, member: { name: 'Alex Test' }, quiz: { name: 'Practice' }, answers }])
    const { reviewStatus, deliveries } = await api().testClub.review({ team: id(), result, correct: true })
    expect(reviewStatus).toBe('passed')
    const sent = await db.delivery.findMany({ where: { id: { in: deliveries } }, include: { event: true } })
    expect(sent.map(({ appId }) => appId)).toContain(auth.world.ids.app)
    expect(JSON.parse(sent[0]!.event.body)).toMatchObject({
      type: 'quiz.reviewed',
      data: { academyId: overview.academy.id, resultId: result, memberId: reviews[0]!.member.id },
    })
    expect((await readOverview())!.reviews).toEqual([])
  })

  it('fails a result whose answers are wrong', async () => {
    expect((await api().testClub.review({ team: id(), result, correct: false })).reviewStatus).toBe('failed')
  })

  it('refuses a second review, and one by another team', async () => {
    const before = await stored()
    const foreign = team.as(team.stranger).testClub
    expect((await readRefusal(foreign.review({ team: id(), result, correct: true }))).status).toBe(404)
    expect((await readRefusal(foreign.review({ team: team.strangers, result, correct: true }))).status).toBe(404)
    expect(await stored()).toEqual(before)
    await api().testClub.review({ team: id(), result, correct: true })
    const after = await stored()
    expect((await readRefusal(api().testClub.review({ team: id(), result, correct: false }))).status).toBe(409)
    expect(await stored()).toEqual(after)
  })
})
