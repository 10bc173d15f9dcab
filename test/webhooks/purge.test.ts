import { describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { purgeEvents } from '../../server/webhooks/purge.ts'
import { startQueue } from './queue-world.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const MONTH_MS = 30 * 86_400_000

/** The rows that each step removed, until nothing is left. */
async function purge(db: Database, limit = 5_000): Promise<number[]> {
  const removed = await purgeEvents(db, NOW, { keepDays: 30, limit })
  expect(removed).toBeLessThanOrEqual(limit)
  return removed === 0 ? [] : [removed, ...(await purge(db, limit))]
}

describe('events over 30 days old', () => {
  it('are removed with their deliveries unless one of these is pending', async () => {
    const { db, subscribe, publish } = await startQueue()
    const [one, other] = [await subscribe(), await subscribe()]
    const over = { state: 'delivered', nextAttemptAt: null, finishedAt: new Date(NOW) } as const
    const old = await publish(one, { count: 1_200, at: NOW - MONTH_MS - 10_000 })
    await db.delivery.updateMany({ where: { id: { in: old } }, data: over })
    const failed = await publish(one, { at: NOW - MONTH_MS })
    await db.delivery.updateMany({ where: { id: { in: failed } }, data: { ...over, state: 'failed' } })
    // An event with one finished and one pending delivery.
    const [arrived] = await publish(one, { at: NOW - MONTH_MS - 5_000 })
    await db.delivery.update({ where: { id: arrived! }, data: over })
    const { appId, eventId } = await db.delivery.findUniqueOrThrow({ where: { id: arrived! } })
    const half = { appId, eventId, subscriptionId: other, createdAt: new Date(NOW), nextAttemptAt: new Date(NOW) }
    await db.delivery.create({ data: { id: 'half', ...half } })
    const [young] = await publish(one, { at: NOW - MONTH_MS + 1 })
    await db.delivery.update({ where: { id: young! }, data: over })
    const attempt = { number: 1, at: new Date(NOW), durationMs: 1, status: 204, answer: '' }
    await db.deliveryAttempt.createMany({
      data: [...old, 'half', young!].map((deliveryId) => ({ ...attempt, deliveryId })),
    })

    expect(await purge(db, 1_000)).toEqual([1_000, 1_000, 402])
    const left = await db.delivery.findMany({ select: { id: true } })
    expect(left.map(({ id }) => id).toSorted()).toEqual([arrived!, 'half', young!].toSorted())
    expect(await db.publishedEvent.count()).toBe(2)
    expect(await db.deliveryAttempt.count()).toBe(2)
    expect(await purge(db)).toEqual([])

    await db.delivery.update({ where: { id: 'half' }, data: { ...over, state: 'failed' } })
    expect(await purge(db)).toEqual([3])
    expect(await db.delivery.findMany({ select: { id: true } })).toEqual([{ id: young }])
  })

  it('are removed when they have more deliveries than one statement removes, or none', async () => {
    const { db, app, subscribe, publish } = await startQueue()
    const at = NOW - 2 * MONTH_MS
    const [id] = await publish(await subscribe(), { at })
    const { eventId, subscriptionId } = await db.delivery.findUniqueOrThrow({ where: { id: id! } })
    await db.$executeRaw`INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, "createdAt")
      SELECT 'd' || n, ${app}, ${eventId}, ${subscriptionId}, 'failed', now() FROM generate_series(1, 6000) n`
    await db.publishedEvent.create({
      data: { appId: app, id: 'alone', type: 't', body: '{}', publishedAt: new Date(at) },
    })
    await db.delivery.update({ where: { id: id! }, data: { state: 'delivered', nextAttemptAt: null } })
    expect(await purge(db)).toEqual([5_000, 1_003])
    expect([await db.delivery.count(), await db.publishedEvent.count()]).toEqual([0, 0])
  })
})
