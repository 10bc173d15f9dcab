import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import { findApprovals, isApproved, requestApproval } from '../../../routers/approvals/approvals.ts'
import { findClubs, membersWhoAllow } from '../../../routers/approvals/club-approvals.ts'
import { decide } from '../../../routers/approvals/decide.ts'
import { callAs } from '../../../routers/core.ts'
import { listReplays } from '../../../routers/developer/activity/replays.ts'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import { readAccess } from '../../../routers/kernel/access.ts'
import { personalDataJson } from '../../../routers/personal-data/export.ts'
import { clearExpiredSecrets } from '../../../routers/webhooks/stored-secrets.ts'
import { erase as eraseStorage, readUsage } from '../../../server/admin/storage-owners.ts'
import { deleteExpiredCodes, releaseCode, saveCode, tryCode } from '../../../server/browser/login/login-codes.ts'
import { personsWithEmail, personWithId, readFullName } from '../../../server/browser/login/persons.ts'
import { findPersons } from '../../../server/browser/login/upstream-identity.ts'
import { findApp } from '../../../server/oauth/consents/app-views.ts'
import { clubEntries } from '../../../server/oauth/consents/club-entries.ts'
import { findOrganisation, listConsents, listOrganisations, withdraw } from '../../../server/oauth/consents/consents.ts'
import { replayNotices } from '../../../server/oauth/consents/replays.ts'
import { adapterFactory } from '../../../server/oauth/engine/adapter.ts'
import { decide as decideDevice, findDeviceRequest } from '../../../server/oauth/engine/device-codes.ts'
import { deleteExpiredRecords } from '../../../server/oauth/engine/expired-records.ts'
import { readKeysAndNeed } from '../../../server/oauth/keys/signing-key-store.ts'
import { purgeEvents } from '../../../server/webhooks/purge.ts'
import { claim, pollDue, release, releaseExpired } from '../../../server/webhooks/queue.ts'
import { failEnded, recordAttempts } from '../../../server/webhooks/results.ts'
import { noResponse } from '../../../server/webhooks/send/response.ts'
import { migratedDatabase, query } from '../../support/databases.ts'
import { addForeignRows } from '../../support/foreign-rows.ts'
import { planProxy } from '../../support/plan-proxy.ts'
import { asPlatform } from '../../support/platform.ts'
import { createQuiz, createTenant, id } from '../../support/tenant.ts'
import type { World } from '../../support/world.ts'
import { startWorld } from '../../support/world.ts'

const FOREIGN_ROWS = 10_000
const MAX_ROWS = 1_000
/** PostgreSQL plans a named statement five times; then it may keep a plan that fits any values. */
const CALLS = 7

let proxy: Awaited<ReturnType<typeof planProxy>>
let world: World
beforeAll(async () => {
  const url = await migratedDatabase(afterAll)
  await addForeignRows(url, FOREIGN_ROWS)
  const db = openDatabase(url, () => {})
  const ids = await createTenant(db)
  await createQuiz(db, ids)
  const { member, client, academy } = ids
  await fillClub(url, ids)
  await db.consent.create({
    data: { id: 'grant', personId: member, organisationId: academy, clientId: client, scopes: [] },
  })
  await addConsents(url, ids)
  await db.$disconnect()
  proxy = await planProxy(url)
  world = await startWorld({ databaseUrl: proxy.url, like: { ids, secretsKeys: [randomBytes(32)] } })
})
afterAll(async () => {
  await world?.close()
  proxy?.close()
})

/** A club that is large enough for joins with whole tables to look cheap, but has fewer rows than `MAX_ROWS` in each. */
const fillClub = (url: string, { club, member }: World['ids']) =>
  query(
    url,
    `INSERT INTO "Group" (id, "clubId", name) SELECT 'g' || n, '${club}', 'G' FROM generate_series(0, 59) n;
    INSERT INTO "GroupMembership" ("groupId", "personId", role)
      SELECT 'g' || n, '${member}', 'member' FROM generate_series(0, 11) n;
    INSERT INTO "Calendar" (id, "clubId", name, visible) SELECT 'c' || n, '${club}', 'C', n < 4 FROM generate_series(0, 7) n;
    INSERT INTO "Event" (id, "clubId", title, start, "end", location, state, "calendarId")
      SELECT 'e' || n, '${club}', 'E', at, at, '', 'published', CASE WHEN n % 3 = 0 THEN 'c' || n % 8 END
      FROM generate_series(0, 799) n CROSS JOIN LATERAL (SELECT now() + n * interval '1 hour' AS at) time;
    INSERT INTO "EventGroup" SELECT 'e' || n, 'g' || n % 60, '${club}' FROM generate_series(1, 799, 2) n;
    INSERT INTO "TrainingPlan" (id, "clubId", name, category, description)
      SELECT 'p' || n, '${club}', 'P', '', '' FROM generate_series(0, 199) n;
    INSERT INTO "PlanAssignment" SELECT 'p' || n, 'g' || n % 60, '${club}' FROM generate_series(0, 199) n;
    INSERT INTO "Exercise" SELECT 'p' || n, 1, 'E' FROM generate_series(0, 199) n;
    INSERT INTO "Competition" (id, "hostId", name) SELECT 'cup' || n, '${club}', 'Cup' FROM generate_series(0, 199) n;
    INSERT INTO "Discipline" (id, name) VALUES ('d', 'D');
    INSERT INTO "CompetitionResult" (id, "competitionId", "disciplineId", "personId", place, score, timestamp)
      SELECT 'r' || n, 'cup' || n % 200, 'd', '${member}', 1, 1, now() FROM generate_series(0, 799) n;
    ANALYZE`,
  )

/** Members of each other club consent to the tenant's client, and members of the tenant's club to another one. */
const addConsents = (url: string, { client, club, academy }: World['ids']) =>
  query(
    url,
    `UPDATE "Client" SET scopes = '{svc.apps.storage:read}' WHERE id = '${client}';
    INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
      SELECT 'consent' || row_number() OVER (), "personId", "organisationId", '${client}', '{svc.apps.storage:read}'
      FROM "Membership" WHERE "organisationId" <> ALL ('{${club},${academy}}');
    INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
      SELECT 'other' || n, 'x' || n, '${club}', 'x1', '{svc.apps.storage:read}' FROM generate_series(1, 2000) n;
    ANALYZE`,
  )

/** Runs it as often as a statement needs for its last plan; no scan may read rows of others by the thousand. */
async function expectSmallScans(run: (n: number) => Promise<unknown>) {
  proxy.take()
  for (let n = 0; n < CALLS; n++) await run(n)
  const { statements, scans } = proxy.take()
  expect(statements).toBeGreaterThan(0)
  expect(scans.filter(({ rows }) => rows > MAX_ROWS)).toEqual([])
}

/** A request that has to succeed. */
async function call(...asked: Parameters<World['call']>) {
  const { status, text } = await world.call(...asked)
  expect(status, text).toBeLessThan(300)
}
type Run = (n: number) => Promise<unknown>
const hook = () => `/apps/${world.ids.app}/webhook`
const keyed = (n: number) => ({ 'idempotency-key': `key-${n >> 1}` })
const mine = ['/', '/me/profile', '/me/groups', '/me/events', '/me/trainingplans', '/me/competitions', '/me/membercard']
const listing =
  (recordType: (typeof recordTypeNames)[number]): Run =>
  () =>
    (asPlatform(world).directory[recordType] as unknown as { list: (input: object) => Promise<unknown> }).list({
      limit: 10,
    })

describe('no request reads the rows of others', () => {
  it.each<[string, Run]>([
    ...mine.map((path): [string, Run] => [`GET ${path}`, () => call('GET', path)]),
    ['PUT /storage', (n) => call('PUT', `/storage/c/k${n}`, { body: { value: n } })],
    ['PUT /storage, again', () => call('PUT', '/storage/c/k0', { body: { value: 0 } })],
    ['PUT /storage, own', (n) => call('PUT', `/storage/c/k${n}?scope=user`, { body: { value: n } })],
    ['GET /storage', () => call('GET', '/storage/c/k0')],
    ['LIST /storage', () => call('GET', '/storage/c')],
    ['LIST /storage, last page', () => call('GET', '/storage/c?offset=5')],
    ['GET /collections', () => call('GET', '/collections?limit=200')],
    ['GET /collections/{collection}/entries', () => call('GET', '/collections/c/entries?prefix=k')],
    ['GET /collections/{collection}/entries, last page', () => call('GET', '/collections/c/entries?after=k5')],
    [
      'PUT /storage with an Idempotency-Key',
      (n) => call('PUT', '/storage/c/keyed', { body: { value: n >> 1 }, headers: keyed(n) }),
    ],
    ['DELETE /storage', (n) => call('DELETE', `/storage/c/k${n}`)],
    [
      'POST /quizzes',
      (n) => {
        const body = { answers: { q1: 'Yes' } }
        return call('POST', `/quizzes/quiz-${world.ids.academy}/results`, { headers: keyed(n), body })
      },
    ],
    ['PUT /apps/{id}/webhook', () => call('PUT', hook(), { body: { url: 'https://example.org/' } })],
    ['GET /apps/{id}/webhook', () => call('GET', hook())],
    ['DELETE /apps/{id}/webhook', () => call('DELETE', hook())],
    ...recordTypeNames.map((recordType): [string, Run] => [`directory.${recordType}.list`, listing(recordType)]),
    [
      'the access of an app itself in a club without its consents',
      () => {
        const { client, club: organisation } = world.ids
        return readAccess(world.db, { member: null, organisation, client, scopes: new Set() }, Date.now())
      },
    ],
    ['subscriptions.list', () => asPlatform(world).subscriptions.list({ app: world.ids.app })],
    ['events.describe', () => asPlatform(world).events.describe({ type: 't', description: 'd', example: 1 })],
    ['events.kinds', () => asPlatform(world).events.kinds()],
    ['events.undescribe', () => asPlatform(world).events.undescribe({ type: 't' })],
    ['deliveries.list', () => asPlatform(world).deliveries.list({})],
  ])('%s', async (_, run) => {
    await expectSmallScans(run)
  })

  it('from publishing to the last attempt', async () => {
    const { db, ids } = world
    await expectSmallScans(async (n) => {
      const { subscriptions, events, deliveries } = asPlatform(world)
      await world.call('PUT', `/apps/${ids.app}/webhook`, { body: { url: 'https://example.org/' } })
      const subscription = await subscriptions.create({ app: ids.app, subscriber: id('s') })
      await world.call('PUT', `/apps/${ids.app}/webhook`, { body: { url: 'https://example.org/', secret: `${n}` } })
      await subscriptions.update({ id: subscription.id })
      const event = await events.publish({ app: ids.app, type: 't', data: n, id: `event-${n}` })
      await events.publish({ app: ids.app, type: 't', data: n, id: `event-${n}` })
      const now = Date.now() + 1_000
      const { due } = await pollDue(db, { now })
      const allocation = new Map(due.map((one) => [one.id, 10]))
      const [first, ...others] = await claim(db, { now, lease: 'l', leaseMs: 1, allocation })
      expect(first?.event).toBe(event.id)
      await release(db, others)
      const attempt = { at: now, durationMs: 1, result: noResponse('timeout'), nextAttemptAt: null }
      await recordAttempts(db, now, [{ ...first!, ...attempt }])
      await deliveries.list({ event: event.id })
      await deliveries.retry({ id: first!.id })
      await claim(db, { now: now + 60_000, lease: 'm', leaseMs: 1, allocation })
      await releaseExpired(db, now + 120_000)
      await failEnded(db, now, [subscription.id])
      await purgeEvents(db, now, { keepDays: 1, limit: 10 })
      await clearExpiredSecrets(db, now)
      await subscriptions.remove({ id: subscription.id })
    })
  })

  it("when an app's team follows its deliveries", async () => {
    const { db, ids, core } = world
    await db.teamMember.create({ data: { teamId: ids.team, personId: ids.member, role: 'developer' } })
    await db.app.update({ where: { id: ids.app }, data: { webhookUrl: 'https://example.org/' } })
    const scopes = new Set(['dev:read', 'dev:write'])
    const principal = { member: ids.member, organisation: ids.provider, client: ids.platform, scopes }
    const { webhook, deliveries } = callAs(core, principal).developer
    const { app } = ids
    await expectSmallScans(async () => {
      const { delivery: id } = await webhook.test({ app })
      await webhook.kinds({ app })
      await webhook.get({ app })
      await webhook.endFormerSecret({ app })
      const { subscriptions } = await deliveries.filters({ app })
      for (const state of [undefined, 'pending', 'delivered', 'failed'] as const) {
        const ofState = { app, ...(state && { state }) }
        const ofSubscription = { ...ofState, subscription: subscriptions[0]! }
        await deliveries.list(ofState)
        await deliveries.list(ofSubscription)
        await deliveries.list({ ...ofState, type: 'webhook.test' })
        await deliveries.list({ ...ofSubscription, type: 'webhook.test' })
      }
      await deliveries.get({ app, id })
      await deliveries.retry({ app, id })
      await db.delivery.update({ where: { id }, data: { state: 'failed', nextAttemptAt: null } })
      await deliveries.retryFailed({ app, since: 0, type: 'webhook.test', subscription: subscriptions[0]! })
    })
  })

  it('what a club decides about apps', async () => {
    const { db, now: seconds } = world
    const { app, club, member } = world.ids
    await expectSmallScans(async (n) => {
      const now = seconds() * 1000
      const by = { administrator: null, at: new Date(now) }
      await requestApproval(db, { club, app }, now)
      await findApprovals(db, app, [club])
      await isApproved(db, { club, app })
      await findClubs(db, member, now)
      await clubEntries(db, club, { now, page: 0 })
      await clubEntries(db, club, { now, app })
      await membersWhoAllow(db, { club, app }, now)
      const state = n % 2 === 0 ? 'approved' : 'withdrawn'
      await decide(db, { club, app, state, reason: null }, by)
      await asPlatform(world).directory.approvals.list({ after: 0 })
    })
  })

  it('from signing in to a refreshed token', async () => {
    const { db, ids, core, now: seconds } = world
    const { member, client, team } = ids
    await expectSmallScans(async (n) => {
      const now = seconds() * 1000
      await personsWithEmail(db, 'mia@example.org', now)
      await personWithId(db, member, now)
      await findPersons(db, { issuer: 'i', subject: 's', email: 'mia@example.org' }, now)
      const code = { interaction: `i${n}`, email: 'mia@example.org', code: '1', sender: `network${n}`, now }
      await db.$transaction((tx) => saveCode(tx, code))
      await releaseCode(db, code)
      await tryCode(db, code)
      await listOrganisations(db, member, ['club', 'academy', 'provider'], now)
      await findOrganisation(db, { grant: 'grant', person: member, client }, now)
      await listConsents(db, member, now)
      await replayNotices(db, member, now)
      await listReplays(core, { team, client: null, app: null })
      await readKeysAndNeed(core)
      await findApp(db, client)
      await readFullName(db, member)
      await withdraw(db, member, 'grant', now)
      for (const model of ['Session', 'Grant', 'RefreshToken']) {
        const records = adapterFactory({ db, now: () => now })(model)
        const payload = { accountId: member, uid: `uid-${n}`, grantId: 'grant', jti: `${model}-${n}` }
        await records.upsert(`${model}-${n}`, payload, 60)
        await records.find(`${model}-${n}`)
        if (model === 'Session') await records.findByUid(`uid-${n}`)
        await records.consume(`${model}-${n}`)
        await records.revokeByGrantId('grant')
        await records.destroy(`${model}-${n}`)
      }
      const userCode = `code-${n}`
      await adapterFactory({ db, now: () => now })('DeviceCode').upsert(
        `device-${n}`,
        { userCode, clientId: client },
        60,
      )
      await findDeviceRequest(db, userCode, { now, realm: undefined })
      await decideDevice(db, userCode, { error: 'access_denied', errorDescription: 'refused' }, now)
      await adapterFactory({ db, now: () => now })('Client').find(client)
      await deleteExpiredRecords(db, now)
      await deleteExpiredCodes(db, now)
    })
  })

  it("when a person's data is exported, or a store is shown and erased", async () => {
    const { db, ids } = world
    await expectSmallScans(async () => {
      await db.inTransaction(async (client) => {
        for await (const _ of personalDataJson(client, ids.member, new Date()));
      })
      await readUsage(db, { app: ids.app, club: ids.club })
      await eraseStorage(db, { app: ids.app, club: ids.club, member: ids.member })
      await eraseStorage(db, { app: ids.app, club: ids.club })
    })
  })
})
