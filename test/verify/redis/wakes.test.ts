import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { DueWatch } from '../../../routers/kernel/due-watch.ts'
import { StoreWatch } from '../../../routers/kernel/store-watch.ts'
import { announceDue } from '../../../server/process/node-wakes.ts'
import { openRedisWakes } from '../../../server/process/redis-wakes.ts'
import { openWith } from '../../storage/tenants.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { hasRedis, redisServer, skipReason } from './redis-server.ts'

const db = openWith({})
afterAll(() => db.$disconnect())

const store = { app: 'a', club: 'c', owner: '', collection: 'c' }

/** Looks later than any test: what wakes its listeners comes from Redis. */
async function openNode(url: string, limits: { silenceMs?: number } = {}) {
  const watches = {
    stores: new StoreWatch(db, { notified: 3_600_000, alone: 3_600_000 }),
    due: new DueWatch(),
    events: new StoreWatch(db, { notified: 3_600_000, alone: 3_600_000 }),
  }
  const { close } = await openRedisWakes(url, watches, limits)
  onTestFinished(close)
  return watches
}

type Node = Awaited<ReturnType<typeof openNode>>

/** Wakes until its publisher is connected again. */
async function expectWoken(writing: Node, reading: Node) {
  const listener = reading.stores.listen(store)
  await expect
    .poll(async () => {
      writing.stores.wake(store)
      return Promise.race([listener.moved().then(() => 'woken'), new Promise((resolve) => setTimeout(resolve, 100))])
    })
    .toBe('woken')
}

describe.skipIf(!hasRedis)(`two nodes with one Redis${skipReason}`, () => {
  let redis: Awaited<ReturnType<typeof redisServer>>
  beforeEach(async () => {
    redis = await redisServer()
    await redis.start()
  })
  const subscribed = (count: number) =>
    expect.poll(() => redis.cli('pubsub', 'numsub', 'member-apps:changed:0')).toBe(`member-apps:changed:0\n${count}`)

  it('wake what waits on the other for the same store, and nothing else', async () => {
    const [writing, reading] = [await openNode(redis.url), await openNode(redis.url)]
    await subscribed(2)
    const [listener, other, event] = [
      reading.stores.listen(store),
      reading.stores.listen({ ...store, club: 'other' }),
      reading.events.listen(store),
    ]
    const woken: string[] = []
    const note = (name: string) => () => void woken.push(name)
    void other.moved().then(note('other'))
    const published = event.moved().then(note('event'))
    writing.stores.wake(store)
    await listener.moved().then(note('store'))
    writing.events.wake(store)
    await published
    expect(woken).toEqual(['store', 'event'])
  })

  it('send one message for the changes of 20 ms, and ignore messages of other programs', async () => {
    const [writing, reading] = [await openNode(redis.url), await openNode(redis.url)]
    await subscribed(2)
    for (const text of ['x', '{}', '{"from":"x","changed":[["unknown","a","c"]]}']) {
      await redis.cli('publish', 'member-apps:changed:0', text)
    }
    const listener = reading.stores.listen(store)
    const before = await redis.calls('publish')
    for (let i = 0; i < 1_000; i++) writing.stores.wake(store)
    await listener.moved()
    expect((await redis.calls('publish')) - before).toBe(1)
  })

  it('wake workers, as do processes that do not stay', async () => {
    const [writing, reading] = [await openNode(redis.url), await openNode(redis.url)]
    await subscribed(2)
    for (const report of [async () => writing.due.wake(), () => announceDue({ db, redisUrl: redis.url })]) {
      const woken = new Promise<void>((resolve) => {
        reading.due.onDue = resolve
      })
      await report()
      await woken
    }
  })

  it('open both connections again when the network drops what they send', async () => {
    const proxy = await FaultProxy.to(redis.url)
    onTestFinished(() => proxy.close())
    const [cut, other] = [await openNode(proxy.url, { silenceMs: 500 }), await openNode(redis.url)]
    await subscribed(2)
    await expect.poll(() => cut.due.isNotified).toBe(true)
    await proxy.begin('blackhole')
    cut.stores.wake(store)
    await expect.poll(() => cut.due.isNotified).toBe(false)
    await proxy.end()
    await expect.poll(() => cut.due.isNotified).toBe(true)
    const here = cut.stores.listen(store)
    other.stores.wake(store)
    await here.moved()
    await expectWoken(cut, other)
  })

  it('go on after Redis was away', async () => {
    const [writing, reading] = [await openNode(redis.url), await openNode(redis.url)]
    await subscribed(2)
    await expect.poll(() => reading.due.isNotified).toBe(true)
    await redis.kill()
    await expect.poll(() => reading.due.isNotified).toBe(false)
    writing.stores.wake(store)
    await redis.start()
    await subscribed(2)
    await expectWoken(writing, reading)
  })
})
