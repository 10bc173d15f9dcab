import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { times } from '../../support/rounds.ts'
import { receiver, startWorkers } from '../../webhooks/worker-world.ts'

describe('workers under load', { timeout: 60_000 }, () => {
  it('deliver to more subscriptions than one poll finds', { timeout: 300_000 }, async () => {
    const to = await receiver()
    const { db, app, publish, states, wake } = await startWorkers()
    const ids = Array.from({ length: times(5_100, 300) }, () => randomUUID())
    const data = ids.map((id) => ({ id, appId: app, subscriber: 'club', url: to.url(`/${id}`) }))
    await db.subscription.createMany({ data })
    await publish(ids, { count: ids.length })
    wake()
    await expect.poll(states, { timeout: 240_000, interval: 200 }).toEqual({ delivered: ids.length })
    expect(to.received.map(({ path }) => path.slice(1)).toSorted()).toEqual(ids.toSorted())
  })
})
