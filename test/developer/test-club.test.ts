import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Transaction } from '../../prisma/client.ts'
import { moveTestEvents } from '../../routers/developer/test-club/events.ts'
import { emptyLargeStores } from '../../routers/developer/test-club/large-stores.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { publishMemberEvents } from '../../routers/webhooks/member-events/publish.ts'
import { ownAuthWorld } from '../oauth/auth-world.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, readRefusal } from '../support/platform.ts'
import type { Call } from '../support/request.ts'
import { addPeople, profileRead, redirect } from './team-world.ts'

const DAY_S = 86_400

const auth = ownAuthWorld()
let team: Awaited<ReturnType<typeof addPeople>>
let client: string
let overview: NonNullable<Awaited<ReturnType<typeof readOverview>>>
let alex: { id: string }
const tokens: Record<string, string> = {}

const id = () => auth.world.ids.team
const api = () => team.as(team.colleague)
const readOverview = async () => (await api().testClub.get({ team: id() })).testClub

beforeAll(async () => {
  team = await addPeople(auth.world)
  await auth.world.db.app.update({ where: { id: auth.world.ids.app }, data: { webhookUrl: 'https://hooks.example/' } })
  client = (await team.sandbox({ scopes: memberScopes })).id
  overview = (await readOverview())!
  alex = overview.members.find(({ name }) => name === 'Alex Test')!
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
  overview = (await readOverview())!
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
/** What has been delivered to the webhook of the app since the last call, once what is due is published. */
async function heard() {
  const { db, core, ids } = auth.world
  while ((await publishMemberEvents(db, core.now())) > 0) {}
  const sent = await db.delivery.findMany({ where: { appId: ids.app }, include: { event: true, subscription: true } })
  await db.delivery.deleteMany({ where: { appId: ids.app } })
  // Without the pause of a minute: with the clock ahead, a membership that has just ended would end later for the database.
  await db.memberChange.deleteMany({ where: { organisationId: { in: [overview.club.id, overview.academy.id] } } })
  expect(sent.filter(({ subscription }) => !subscription.test)).toEqual([])
  return sent.map(({ event }) => JSON.parse(event.body)).map(({ type, data }) => ({ type, data }))
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

  it('locks stores before entries, as writers do, and is repeated after a deadlock with other hands', async () => {
    const { db, ids } = auth.world
    const of = { appId: ids.app, clubId: overview.club.id }
    await call('PUT', '/storage/notes/mine', 'svc.', { body: { value: 1 } })
    const reset = () => api().testClub.reset({ team: id() })
    const store = (tx: Transaction) =>
      tx.$queryRaw`SELECT FROM "StorageUsage" WHERE "appId" = ${of.appId} AND "clubId" = ${of.clubId} FOR UPDATE`
    const entry = (tx: Transaction) =>
      tx.$queryRaw`SELECT FROM "StorageEntry" WHERE "appId" = ${of.appId} AND "clubId" = ${of.clubId} FOR UPDATE`
    expect(await meanwhile(db, store, reset, { goOn: entry })).toEqual({ club: of.clubId })
    expect(await db.storageEntry.count({ where: of })).toBe(3)
    expect(await meanwhile(db, entry, reset, { goOn: store })).toEqual({ club: of.clubId })
    expect(await db.storageEntry.count({ where: of })).toBe(3)
  })

  it('empties large stores before, in portions, and says so once in the audit log', async () => {
    const { db, core, ids } = auth.world
    const of = { appId: ids.app, clubId: overview.club.id }
    for (const key of ['a', 'b', 'c']) await call('PUT', `/storage/notes/${key}`, 'svc.', { body: { value: 1 } })
    const audited = () => db.auditEntry.count({ where: { teamId: id(), action: 'testClub.reset' } })
    const before = await audited()
    const ctx = { core, person: team.colleague }
    await emptyLargeStores(ctx, id(), 6)
    expect((await readRefusal(emptyLargeStores({ core, person: team.stranger }, id(), 2))).status).toBe(404)
    expect([await db.storageEntry.count({ where: of }), await audited()]).toEqual([6, before])
    await emptyLargeStores(ctx, id(), 2)
    expect([await db.storageEntry.count({ where: of }), await audited()]).toEqual([0, before + 1])
  })

  it('adds what a test club of an earlier release does not have', async () => {
    const { db } = auth.world
    await db.app.delete({ where: { id: overview.app!.id } })
    const { provider } = overview
    await db.organisation.delete({ where: { id: provider!.id } })
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

const byName = (name: string) => overview.members.find((one) => one.name === name)!
type Change = Parameters<ReturnType<typeof api>['testClub']['change']>[0]['change']
const change = (change: Change, member = alex.id) => api().testClub.change({ team: id(), member, change })
const memberData = (member: string) => ({
  organisationId: overview.club.id,
  memberId: member,
  changedAt: expect.any(String),
})
const signIn = (member: string) =>
  auth.toTokens({ client, scope: profileRead, redirectUri: redirect }, team.colleague, `${overview.club.id} ${member}`)
const offers = async (member: string) => {
  const asked = auth.authorizeUrl({ client, scope: profileRead, redirectUri: redirect }).url
  return (await auth.toConsent(auth.newBrowser(), asked, team.colleague)).text.includes(member)
}
/** Whatever a refused change could have changed. */
const state = async () => {
  const { db, ids } = auth.world
  const people = { in: [...overview.members.map((one) => one.id), ids.member] }
  return {
    people: await db.person.findMany({ where: { id: people }, orderBy: { id: 'asc' } }),
    memberships: await db.membership.findMany({ where: { personId: people }, orderBy: { personId: 'asc' } }),
    consents: await db.consent.findMany({ where: { personId: people }, orderBy: { id: 'asc' } }),
    changes: await db.memberChange.count({ where: { personId: people } }),
    subscriptions: await db.subscription.findMany({ where: { app: { teamId: id() } } }),
    audit: await db.auditEntry.count({ where: { teamId: { in: [id(), team.strangers] } } }),
  }
}

describe('developer.testClub.change', () => {
  beforeEach(async () => {
    await api().testClub.reset({ team: id() })
    await heard()
  })

  it('changes the name, which apps that the member allows to read it hear of, at their webhook', async () => {
    const names = [(await call('GET', '/me/profile')).body.lastName]
    for (const _ of [1, 2]) {
      await change('profile')
      names.push((await call('GET', '/me/profile')).body.lastName)
    }
    expect(names).toEqual(['Test', 'Sample', 'Test'])
    expect(await heard()).toEqual([{ type: 'member.profile.changed', data: memberData(alex.id) }])
    const { items } = await api().audit.list({ team: id(), limit: 1, offset: 0 })
    const entry = {
      action: 'testClub.change',
      target: alex.id,
      after: { change: 'profile' },
      by: { id: team.colleague },
    }
    expect(items).toMatchObject([entry])
  })

  it('ends and renews a membership, as often as one likes, with the events and refusals of production', async () => {
    const { id: kim } = byName('Kim Test')
    for (const _ of [1, 2]) {
      const { access_token, refresh_token } = await signIn(kim)
      await change('left', kim)
      expect(await heard()).toEqual([{ type: 'member.left', data: memberData(kim) }])
      expect((await readOverview())!.members.map(({ belongs }) => belongs)).toEqual([true, false, true])
      expect(await auth.profileStatus(access_token)).toBe(404)
      expect((await auth.refresh(client, refresh_token)).json.error).toBe('invalid_grant')
      expect(await offers(kim)).toBe(false)
      expect((await readRefusal(change('left', kim))).status).toBe(409)
      await change('joined', kim)
      expect(await heard()).toEqual([{ type: 'consent.withdrawn', data: memberData(kim) }])
      expect((await readRefusal(change('joined', kim))).status).toBe(409)
      expect(await offers(kim)).toBe(true)
    }
    await change('left', kim)
    await api().testClub.reset({ team: id() })
    expect((await readOverview())!.members.every(({ belongs }) => belongs)).toBe(true)
  })

  it('goes to the subscriptions alone where the platform has subscribed', async () => {
    const { db, ids } = auth.world
    const subscription = { id: `${ids.app}-s`, appId: ids.app, subscriber: 's', url: 'https://hooks.example/' }
    await db.subscription.create({ data: subscription })
    await change('profile')
    while ((await publishMemberEvents(db, auth.world.core.now())) > 0) {}
    const sent = await db.delivery.findMany({ where: { appId: ids.app } })
    expect(sent.map(({ subscriptionId }) => subscriptionId)).toEqual([subscription.id])
    await db.subscription.delete({ where: { id: subscription.id } })
    await heard()
  })

  it('goes nowhere once the app has no webhook', async () => {
    const { db, ids } = auth.world
    const set = (webhookUrl: string | null) => db.app.update({ where: { id: ids.app }, data: { webhookUrl } })
    await change('profile')
    await heard()
    await set(null)
    await change('profile')
    expect(await heard()).toEqual([])
    await set('https://hooks.example/')
  })

  it('refuses other teams and members of real clubs, and changes nothing', async () => {
    const { db, ids } = auth.world
    const before = await state()
    for (const one of ['profile', 'left', 'joined'] as const) {
      const stranger = team.as(team.stranger).testClub
      const of = { member: alex.id, change: one }
      expect((await readRefusal(stranger.change({ team: id(), ...of }))).status).toBe(404)
      expect((await readRefusal(stranger.change({ team: team.strangers, ...of }))).status).toBe(404)
      expect(await readRefusal(change(one, ids.member))).toMatchObject({
        status: 404,
        message: 'This person does not exist.',
      })
    }
    expect(await state()).toEqual(before)
    const place = { organisationId: overview.club.id, personId: ids.member }
    await db.membership.create({ data: place })
    const placed = await state()
    for (const one of ['profile', 'left'] as const) {
      expect((await readRefusal(change(one, ids.member))).status).toBe(404)
    }
    expect(await state()).toEqual(placed)
    await db.membership.delete({ where: { of: place } })
  })
})

describe('developer.testClub.withdraw', () => {
  const withdraw = (member: string, of = client) => api().testClub.withdraw({ team: id(), member, client: of })

  it('withdraws as the member would: a refused renewal, and consent.withdrawn', async () => {
    const { id: robin } = byName('Robin Test')
    const { access_token, refresh_token } = await signIn(robin)
    const allowed = async () => (await readOverview())!.members.find((one) => one.id === robin)!.allows
    expect(await allowed()).toEqual([{ id: client, name: 'Sandbox', app: 'App' }])
    await heard()
    expect(await withdraw(robin)).toEqual({ withdrawn: 1 })
    expect(await heard()).toEqual([{ type: 'consent.withdrawn', data: memberData(robin) }])
    auth.world.advance(5)
    expect(await auth.profileStatus(access_token)).toBe(401)
    expect((await auth.refresh(client, refresh_token)).json.error).toBe('invalid_grant')
    expect(await allowed()).toEqual([])
  })

  it('refuses other teams, members of real clubs and clients without a consent, and changes nothing', async () => {
    const { db, ids } = auth.world
    const real = { personId: ids.member, organisationId: ids.club, clientId: auth.client, scopes: [profileRead] }
    await db.consent.create({ data: { id: `${ids.member}-consent`, ...real } })
    const before = await state()
    const stranger = team.as(team.stranger).testClub
    for (const of of [id(), team.strangers]) {
      expect((await readRefusal(stranger.withdraw({ team: of, member: alex.id, client }))).status).toBe(404)
    }
    expect((await readRefusal(withdraw(ids.member, auth.client))).status).toBe(404)
    expect((await readRefusal(withdraw(alex.id, auth.client))).status).toBe(404)
    expect(await state()).toEqual(before)
  })
})

describe('GET /events with the token of a sandbox client', () => {
  it('returns the events of the test club and test events, and none of real clubs', async () => {
    const { ids } = auth.world
    await asPlatform(auth.world).events.publish({ app: ids.app, type: 't.real', data: {} })
    const token = (
      await auth.toTokens(
        { client, scope: 'ntf.apps.webhook:update', redirectUri: redirect },
        team.colleague,
        `${overview.provider!.id} ${alex.id}`,
      )
    ).access_token
    const read = async (query = '') => {
      const { status, body } = await auth.world.call('GET', `/events${query}`, { token })
      expect(status).toBe(200)
      return { ...body, types: body.items.map(({ type }: { type: string }) => type) }
    }
    const first = await read()
    expect(first.types).not.toContain('t.real')
    expect(new Set(first.types)).toEqual(new Set(['member.profile.changed', 'member.left', 'consent.withdrawn']))
    await change('profile')
    await heard()
    await asPlatform(auth.world).events.publish({ app: ids.app, type: 't.real', data: {} })
    const { delivery } = await api().webhook.test({ app: ids.app, type: 'member.left' })
    const { types, items, more } = await read(`?since=${first.cursor}`)
    expect([types, more]).toEqual([['member.profile.changed', 'member.left'], false])
    expect(JSON.parse(items[1].payload).data).toMatchObject({ organisationId: overview.club.id, memberId: alex.id })
    expect(await read(`?since=${first.cursor}&limit=1`)).toMatchObject({
      types: ['member.profile.changed'],
      more: true,
    })
    await auth.world.db.delivery.delete({ where: { id: delivery } })
    const quiz = await api().webhook.test({ app: ids.app, type: 'quiz.reviewed' })
    const { event } = await auth.world.db.delivery.findFirstOrThrow({
      where: { id: quiz.delivery },
      include: { event: true },
    })
    expect(JSON.parse(event.body).data).toMatchObject({
      academyId: overview.academy.id,
      quizId: overview.quizzes.find(({ name }) => name === 'Practice')!.id,
      memberId: alex.id,
    })
    await heard()
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
    changes: await auth.world.db.memberChange.count({ where: { organisationId: overview.academy.id } }),
    audit: await auth.world.db.auditEntry.count({ where: { teamId: id() } }),
  })

  it('decides the result, and sends quiz.reviewed to the webhook of the app that the member allows it', async () => {
    const { reviews } = (await readOverview())!
    const answers = expect.arrayContaining([{ question: expect.any(String), value: '"A game"' }])
    expect(reviews).toMatchObject([{ result, member: { name: 'Alex Test' }, quiz: { name: 'Practice' }, answers }])
    const { reviewStatus } = await api().testClub.review({ team: id(), result, correct: true })
    expect(reviewStatus).toBe('passed')
    const data = expect.objectContaining({ academyId: overview.academy.id, resultId: result, memberId: alex.id })
    expect(await heard()).toEqual([{ type: 'quiz.reviewed', data }])
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

it('refuses the sixty-first change of a test club in an hour, and changes nothing', async () => {
  const { db, core } = auth.world
  const at = new Date(core.now() - 1_800_000)
  const entry = { teamId: id(), action: 'testClub.change', target: alex.id, at }
  const had = await db.auditEntry.count({ where: { teamId: id(), action: { startsWith: 'testClub.' } } })
  await db.auditEntry.createMany({ data: Array.from({ length: 60 - had }, () => entry) })
  const full = await state()
  const message = expect.stringMatching(/at most 60 times per hour; try again in 1[78]\d\d s/)
  for (const one of ['profile', 'left', 'joined'] as const) {
    expect(await readRefusal(change(one))).toMatchObject({ status: 429, message })
  }
  const withdrawal = api().testClub.withdraw({ team: id(), member: alex.id, client })
  expect((await readRefusal(withdrawal)).status).toBe(429)
  expect(await state()).toEqual(full)
  auth.world.advance(1_800)
  await change('profile')
})
