import { afterAll, beforeAll, expect, it } from 'vitest'
import { endIfBusy, removeMostDeliveries } from '../../routers/webhooks/removal.ts'
import { mintDelivery, mintReceiver } from '../conformance/delivery-tenant.ts'
import { mintTeam } from '../developer/team.ts'
import { asPlatform, readRefusal } from '../support/platform.ts'
import { refusing } from '../support/refusing.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld()

/** A subscription with this many deliveries and as many attempts. */
async function busy(app: string, count: number) {
  const receiver = await mintReceiver(world.db, app)
  const delivery = await mintDelivery(world.db, receiver)
  await world.db.$executeRaw`
    INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, "createdAt", "nextAttemptAt")
      SELECT id || '-' || n, "appId", "eventId", "subscriptionId", state, "createdAt", "nextAttemptAt"
      FROM "Delivery" CROSS JOIN generate_series(2, ${count}::int) n WHERE id = ${delivery}`
  await world.db.$executeRaw`
    INSERT INTO "DeliveryAttempt" ("deliveryId", number, at, "durationMs")
      SELECT id, 1, "createdAt", 1 FROM "Delivery" WHERE "subscriptionId" = ${receiver.subscription}`
  return receiver.subscription
}

const countDeliveries = (subscriptionId: string) => world.db.delivery.count({ where: { subscriptionId } })
const find = (id: string) => world.db.subscription.findUniqueOrThrow({ where: { id } })

beforeAll(async () => {
  await world.db.$executeRaw`CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN IF (SELECT count(*) FROM gone) > 5000 THEN RAISE ''more than a portion''; END IF; RETURN NULL; END'`
  await world.db.$executeRaw`CREATE TRIGGER refuse_many AFTER DELETE ON "Delivery" REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`
})
afterAll(() => world.db.$executeRaw`DROP FUNCTION refuse_many CASCADE`)

it('removes a subscription with many deliveries in portions', async () => {
  const id = await busy(world.ids.app, 12_000)
  expect(await asPlatform(world).subscriptions.remove({ id })).toEqual({ id })
  expect(await countDeliveries(id)).toBe(0)
})

it('removes an address with many deliveries in portions, unless the removal is refused', async () => {
  const { app, api, team, person } = await mintTeam(world)
  const id = await busy(app, 12_000)
  await world.db.subscription.update({ where: { id }, data: { address: true, types: [] } })
  const entry = { teamId: team, personId: person, action: 'app.update', target: app, at: new Date(world.core.now()) }
  await world.db.auditEntry.createMany({ data: Array.from({ length: 1_000 }, () => entry) })
  const before = await find(id)
  expect((await readRefusal(api.addresses.remove({ app, id }))).status).toBe(429)
  expect([await find(id), await countDeliveries(id)]).toEqual([before, 12_000])
  await world.db.auditEntry.deleteMany({ where: { teamId: team } })

  expect(await api.addresses.remove({ app, id })).toEqual({ id })
  expect(await countDeliveries(id)).toBe(0)
  const removed = await world.db.auditEntry.findMany({ where: { teamId: team } })
  expect(removed).toMatchObject([{ action: 'address.remove', before: { state: 'active' } }])
})

it('notes the removal of an address whose deliveries could not all be removed, and removes it when it is repeated', async () => {
  const { app, api, team } = await mintTeam(world)
  const id = await busy(app, 5_001)
  await world.db.subscription.update({ where: { id }, data: { address: true, types: [] } })
  const when = `OLD."subscriptionId" = '${id}'`
  // As where statement_timeout ends it.
  await refusing(world.db, { event: 'DELETE', table: 'Delivery', when, code: '57014' }, async () =>
    expect((await readRefusal(api.addresses.remove({ app, id }))).status).toBe(503),
  )
  const entries = () => world.db.auditEntry.findMany({ where: { teamId: team }, orderBy: { id: 'asc' } })
  expect(await find(id)).toMatchObject({ endedAt: expect.any(Date) })
  expect(await entries()).toMatchObject([{ action: 'address.remove', before: { state: 'active' } }])

  await api.addresses.remove({ app, id })
  expect(await countDeliveries(id)).toBe(0)
  expect((await entries()).at(-1)).toMatchObject({ action: 'address.remove', before: { state: 'ended' } })
})

it('ends what has more deliveries than a portion, and leaves a portion of them', async () => {
  const [many, few] = [await busy(world.ids.app, 7), await busy(world.ids.app, 2)]
  const end = (id: string) => endIfBusy(world.db, id, world.core.now(), 2)
  expect([await end(many), await end(few)]).toEqual([true, false])
  for (const id of [many, few]) await removeMostDeliveries(world.db, id, 2)
  expect([await countDeliveries(many), await countDeliveries(few)]).toEqual([2, 2])
  expect([await find(many), await find(few)]).toMatchObject([
    { endedAt: expect.any(Date), alarm: 'ended' },
    { endedAt: null, alarm: null },
  ])
})
