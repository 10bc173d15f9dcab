import { randomUUID } from 'node:crypto'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openNotifications } from '../../prisma/pg/notifications.ts'
import { StoreWatch } from '../../routers/kernel/store-watch.ts'
import { announceChange } from '../../server/process/node-wakes.ts'
import { openPostgresWakes } from '../../server/process/postgres-wakes.ts'
import { direct } from '../support/addresses.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { sharedDatabase } from '../support/world.ts'

const url = direct(inject('databaseUrl'))
const NEVER = 2 ** 31 - 1
const db = sharedDatabase()

const makePlace = (app: string) => ({ app, club: 'club', owner: '', collection: 'c' })

/** It looks at the database only when notifications begin or cease to arrive. */
async function openNode(at = url) {
  const watches = {
    stores: new StoreWatch(db, { notified: NEVER, alone: NEVER }),
    events: new StoreWatch(db, { notified: NEVER, alone: NEVER }),
  }
  const wakes = openPostgresWakes(db, at, watches)
  onTestFinished(wakes.close)
  await expect.poll(() => watches.stores.isNotified).toBe(true)
  return watches
}

it('wakes what waits on another node for the same collection, or for any of the store, and nothing else', async () => {
  const [writing, reading] = [await openNode(), await openNode()]
  const app = randomUUID()
  const [listener, other, own] = [
    reading.stores.listen(makePlace(app)),
    reading.stores.listen({ ...makePlace(app), collection: 'd' }),
    writing.stores.listen({ ...makePlace(app), collection: 'd' }),
  ]
  let isOtherAwake = false
  const moved = other.moved().then(() => {
    isOtherAwake = true
  })
  writing.stores.wake(makePlace(app))
  await listener.moved()
  expect(isOtherAwake).toBe(false)
  await announceChange({ db, redisUrl: undefined }, { app, club: 'club' })
  await Promise.all([moved, own.moved()])
  for (const one of [listener, other, own]) one.close()
})

it('carries names of any length and more changes than one notification holds', async () => {
  const [writing, reading] = [await openNode(), await openNode()]
  const apps = Array.from({ length: 100 }, () => `${'\u{1f600}'.repeat(100)}${randomUUID()}`)
  const listeners = apps.map((app) => reading.stores.listen(makePlace(app)))
  for (const app of apps) writing.stores.wake(makePlace(app))
  await Promise.all(listeners.map((listener) => listener.moved()))
  for (const listener of listeners) listener.close()
})

it('looks itself while its connection is broken, and is notified again after that', async () => {
  const proxy = await FaultProxy.to(url)
  const [writing, reading] = [await openNode(), await openNode(proxy.url)]
  await proxy.begin('refuse')
  await expect.poll(() => reading.stores.isNotified).toBe(false)
  await proxy.end()
  await expect.poll(() => reading.stores.isNotified).toBe(true)
  const app = randomUUID()
  const listener = reading.stores.listen(makePlace(app))
  writing.stores.wake(makePlace(app))
  await listener.moved()
  listener.close()
})

it('is not relied on where LISTEN is accepted and nothing arrives, as through PgBouncer', async () => {
  const states: boolean[] = []
  const notifications = openNotifications({
    url,
    channel: `deaf_${randomUUID()}`,
    hello: randomUUID,
    received: () => {},
    waitsMs: { answer: 50, reconnect: 1, retry: 1 },
    working: (isWorking) => void states.push(isWorking),
    // Nothing arrives on the channel.
    probe: async () => {},
  })
  await expect.poll(() => states.length).toBeGreaterThan(1)
  await notifications.close()
  expect(new Set(states)).toEqual(new Set([false]))
})

it('close while they have not been probed yet', async () => {
  let begun = () => {}
  const probing = new Promise<void>((resolve) => {
    begun = resolve
  })
  const notifications = openNotifications({
    url,
    channel: `early_${randomUUID()}`,
    hello: randomUUID,
    received: () => {},
    working: (isWorking) => expect(isWorking).toBe(false),
    async probe(channel, text) {
      begun()
      await closed
      await db.$executeRawUnsafe(`NOTIFY "${channel}", '${text}'`)
    },
  })
  await probing
  const closed = notifications.close()
  await closed
})

it('close although the server is silent', async () => {
  const proxy = await FaultProxy.to(url)
  onTestFinished(() => proxy.close())
  let settled = (_isWorking: boolean) => {}
  const working = new Promise<boolean>((resolve) => {
    settled = resolve
  })
  const notifications = openNotifications({
    url: proxy.url,
    channel: `silent_${randomUUID()}`,
    hello: randomUUID,
    received: () => {},
    working: settled,
    probe: (channel, text) => db.$executeRaw`SELECT pg_notify(${channel}, ${text})`,
  })
  expect(await working).toBe(true)
  await proxy.begin('blackhole')
  await notifications.close()
})
