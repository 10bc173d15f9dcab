import { describe, expect, it } from 'vitest'
import { toUnix } from '../../routers/kernel/time.ts'
import { claim } from '../../server/webhooks/queue.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { startQueue } from './queue-world.ts'
import { answering, holding, receiver, startWorkers } from './worker-world.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

describe('a worker', () => {
  it('delivers what is due, and writes and logs the result', async () => {
    const to = await receiver()
    const { subscribe, publish, row, lines, app } = await startWorkers()
    const subscription = await subscribe(to.url('/hook?a=1'), 'secret-4711')
    const [id] = await publish(subscription, { data: '{"canary":"body-4711"}' })
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })

    const { eventId: event, lastAttemptAt, ...after } = await row(id)
    expect(after).toMatchObject({ attempts: 1, lastStatus: 204, lastError: null, lease: null, nextAttemptAt: null })
    expect(to.received).toHaveLength(1)
    const [{ method, path, headers, body }] = to.received as [(typeof to.received)[0]]
    expect([method, path]).toEqual(['POST', '/hook?a=1'])
    expect(headers).toMatchObject({ 'webhook-id': id, 'x-webhook-secret': 'secret-4711' })
    expect(headers['webhook-timestamp']).toBe(String(toUnix(lastAttemptAt!)))
    expect(JSON.parse(body)).toMatchObject({ id: event, data: { canary: 'body-4711' } })

    const logged = { level: 30, delivery: id, event, subscription, app, attempt: 1, status: 204, error: null }
    expect(lines()).toEqual([
      {
        ...logged,
        ms: expect.any(Number),
        time: expect.anything(),
        pid: expect.anything(),
        hostname: expect.anything(),
      },
    ])
    expect(JSON.stringify(lines())).not.toMatch(/(?:secret|body)-4711|hook|127\.0\.0\.1/)
  })

  it('retries at the scheduled time with the same id and body', async () => {
    const to = await receiver(answering([500, 204]))
    const { subscribe, publish, row, lines, now, advance } = await startWorkers()
    const before = now()
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => row(id)).toMatchObject({ attempts: 1, state: 'pending', lease: null })
    const failed = await row(id)
    expect(failed).toMatchObject({ lastStatus: 500, lastAnswer: 'said', finishedAt: null })
    expect(failed.lastError).toBeTruthy()
    const at = failed.nextAttemptAt!.getTime()
    expect(at).toBeGreaterThanOrEqual(before + 4 * SECOND_MS)
    expect(at).toBeLessThanOrEqual(now() + 6 * SECOND_MS)

    advance(7 * SECOND_MS)
    await expect.poll(() => row(id)).toMatchObject({ attempts: 2, state: 'delivered', lastError: null })
    expect(to.received).toHaveLength(2)
    const [first, second] = to.received
    expect([second!.headers['webhook-id'], second!.body]).toEqual([id, first!.body])
    expect(first!.headers['webhook-id']).toBe(id)
    expect(lines().map(({ level, attempt, status }) => [level, attempt, status])).toEqual([
      [40, 1, 500],
      [30, 2, 204],
    ])
  })

  it('delivers at once when it is woken', async () => {
    const to = await receiver()
    const { subscribe, publish, row, states, wake } = await startWorkers({ pollMs: 3_600_000 })
    const subscription = await subscribe(to.url())
    // The first poll may have seen this one, but not the next.
    await publish(subscription)
    wake()
    await expect.poll(states).toEqual({ delivered: 1 })
    const [id] = await publish(await subscribe(to.url('/other')))
    wake()
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })
  })

  it('keeps its lease for longer than an attempt can take, 15 s, so that another worker does not try beside it', async () => {
    const hold = holding()
    const [to, live] = [await receiver(hold.answer), await receiver()]
    const { subscribe, publish, row, advance } = await startWorkers({ count: 2 })
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => to.received.length).toBe(1)
    const { lease } = await row(id)
    advance(30 * SECOND_MS)
    // Delivered by a poll after that, which releases the leases that have expired.
    const [later] = await publish(await subscribe(live.url()))
    await expect.poll(() => row(later)).toMatchObject({ state: 'delivered' })
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease })
    hold.release()
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered', attempts: 1 })
    expect(to.received).toHaveLength(1)
  })

  it('delivers after the system clock was set back', async () => {
    const to = await receiver(answering([500, 204]))
    const { subscribe, publish, row, setClock } = await startWorkers()
    const subscription = await subscribe(to.url())
    const [failed] = await publish(subscription)
    await expect.poll(() => row(failed)).toMatchObject({ attempts: 1, lease: null })
    setClock(-HOUR_MS)
    // Neither the pause between polls nor the subscription's backoff has become an hour longer.
    const [due] = await publish(subscription)
    await expect.poll(() => row(due)).toMatchObject({ state: 'delivered' })
  })

  it('fails a delivery after eight attempts', async () => {
    const to = await receiver(answering([503]))
    const { subscribe, publish, row, advance, lines } = await startWorkers()
    const [id] = await publish(await subscribe(to.url()))
    for (let attempts = 1; attempts <= 8; attempts++) {
      await expect.poll(() => row(id)).toMatchObject({ attempts, lease: null })
      advance(13 * HOUR_MS)
    }
    const failed = await row(id)
    expect(failed).toMatchObject({
      state: 'failed',
      lastStatus: 503,
      nextAttemptAt: null,
      finishedAt: expect.any(Date),
    })
    expect(to.received).toHaveLength(8)
    expect(new Set(to.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]))
    expect(lines().map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('waits as long as Retry-After asks', async () => {
    const to = await receiver(answering([429], { 'retry-after': '1800' }))
    const { subscribe, publish, row, now } = await startWorkers()
    const before = now()
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => row(id)).toMatchObject({ attempts: 1, lease: null })
    const at = (await row(id)).nextAttemptAt!.getTime()
    expect(at).toBeGreaterThanOrEqual(before + 1_800_000)
    expect(at).toBeLessThanOrEqual(now() + 1_800_000)
  })

  it('ends the subscription on a 410, fails its pending deliveries and sends nothing more', async () => {
    const to = await receiver(answering([410]))
    const live = await receiver()
    const { db, subscribe, publish, row, states, advance } = await startWorkers()
    const [ending, going] = [await subscribe(to.url()), await subscribe(live.url())]
    const [first] = await publish(ending, { count: 30 })
    await expect.poll(states).toEqual({ failed: 30 })
    expect(to.received).toHaveLength(1)
    expect(to.received[0]!.headers['webhook-id']).toBe(first)
    expect((await db.subscription.findUniqueOrThrow({ where: { id: ending } })).endedAt).toBeInstanceOf(Date)
    const ended = await row(first)
    expect(ended).toMatchObject({ attempts: 1, lastStatus: 410, lastAnswer: 'said' })
    expect(ended.lastError).not.toBe('the subscription has ended')

    // Published when it was about to end: never sent either.
    const [late] = await publish(ending)
    const [other] = await publish(going)
    advance(SECOND_MS)
    await expect.poll(states).toEqual({ failed: 31, delivered: 1 })
    expect(await row(late)).toMatchObject({ attempts: 0, lastError: 'the subscription has ended' })
    expect(await row(other)).toMatchObject({ state: 'delivered' })
    expect(to.received).toHaveLength(1)
  })

  it('sends nothing when the secret cannot be decrypted', async () => {
    const to = await receiver()
    const { db, subscribe, publish, row, cipher } = await startWorkers()
    const subscription = await subscribe(to.url(), 'secret')
    const secret = cipher.encrypt('secret', 'Subscription.secret:another')
    await db.subscription.update({ where: { id: subscription }, data: { secret } })
    const [id] = await publish(subscription)
    await expect.poll(() => row(id)).toMatchObject({ attempts: 1, lease: null })
    const failed = { state: 'pending', lastStatus: null, lastError: 'the secret cannot be decrypted' }
    expect(await row(id)).toMatchObject(failed)
    expect(to.connections()).toBe(0)
  })

  it('continues when a subscription is removed during an attempt', async () => {
    const hold = holding()
    const [to, live] = [await receiver(hold.answer), await receiver()]
    const { db, subscribe, publish, row, states, wake } = await startWorkers()
    const subscription = await subscribe(to.url())
    await publish(subscription, { count: 3 })
    await expect.poll(() => to.received.length).toBe(1)
    await db.subscription.delete({ where: { id: subscription } })
    hold.release()
    const [id] = await publish(await subscribe(live.url()))
    wake()
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })
    await expect.poll(states).toEqual({ delivered: 1 })
    expect(to.received).toHaveLength(1)
  })
})

describe('closing a worker', () => {
  it('waits for the delivery in flight, writes its result and starts nothing more', async () => {
    const hold = holding()
    const to = await receiver(hold.answer)
    const { subscribe, publish, row, states, close } = await startWorkers()
    const [id] = await publish(await subscribe(to.url()), { count: 20 })
    await expect.poll(() => to.received.length).toBe(1)
    let closed = false
    const closing = close(30_000).then(() => {
      closed = true
    })
    expect(closed).toBe(false)
    hold.release()
    await closing
    expect(await row(id)).toMatchObject({ state: 'delivered', attempts: 1, lease: null })
    expect(await states()).toEqual({ delivered: 1, pending: 19 })
    expect(to.received).toHaveLength(1)
  })

  it('releases a delivery that does not finish, so that others can claim it at once', async () => {
    const to = await receiver(holding().answer)
    const { db, subscribe, publish, row, close } = await startWorkers()
    const subscription = await subscribe(to.url())
    const [id] = await publish(subscription)
    await expect.poll(() => to.received.length).toBe(1)
    expect((await row(id)).lease).not.toBeNull()
    await close(100)
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: null, leasedUntil: null })
    const allocation = new Map([[subscription, 1]])
    expect(await claim(db, { now: Date.now(), lease: 'next', leaseMs: 1_000, allocation })).toHaveLength(1)
    // The closed worker's attempt ends now, and its result is not written.
    await to.close()
    await expect.poll(() => row(id)).toMatchObject({ lease: 'next', attempts: 0 })
  })

  it('releases what it claims while it closes, and attempts none of it', async () => {
    const to = await receiver()
    const queue = await startQueue()
    const ids = await queue.publish([await queue.subscribe(to.url()), await queue.subscribe(to.url())], { count: 2 })
    let workers!: Awaited<ReturnType<typeof startWorkers>>
    await meanwhile(
      queue.db,
      async (tx) => {
        // A claim reads events, a poll does not.
        await tx.$executeRaw`LOCK TABLE "PublishedEvent"`
        workers = await startWorkers({}, queue)
        const waiting = () => queue.db.$queryRaw`
          SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        await expect.poll(waiting, { interval: 20 }).toHaveLength(1)
      },
      () => workers.close(30_000),
    )
    for (const id of ids) {
      expect(await queue.row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: null, leasedUntil: null })
    }
    expect(to.received).toEqual([])
  })

  it('returns soon when idle, also a second time', async () => {
    const { close } = await startWorkers()
    await close(30_000)
    await close(30_000)
  })
})
