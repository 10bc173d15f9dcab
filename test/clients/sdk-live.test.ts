import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Change, Live } from '../../clients/sdk/client.ts'
import { ApiError, createClient } from '../../clients/sdk/client.ts'
import { expireCursors } from '../support/expired-cursors.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld({ localUrls: localUrlsAt('http://127.0.0.1') })

interface Score {
  points: number
}

let name: string
beforeEach(() => {
  name = id('c')
})

async function scores(send = fetch, token?: string) {
  const at = (api: string) => `http://127.0.0.1:${world.publicPort}/${api}/v1`
  const tokens = token ?? (await world.token())
  return createClient({ apps: at('apps'), sync: at('sync'), tokens, fetch: send }).storage<Score>(name)
}

/** Follows a collection until the test ends. */
function follow(live: Live<Score>) {
  const states: string[] = []
  const stop = live.subscribe(() => states.push(live.state))
  onTestFinished(stop)
  return { states, stop }
}
const readPoints = ({ entries }: Live<Score>) =>
  Object.fromEntries([...entries].map(([key, { value }]) => [key, value.points]))
const waiting = (count: number) => expect.poll(() => world.longPollSlots.size).toBe(count)

describe('changes()', () => {
  it('has all entries, then each change, and goes on after a cursor', async () => {
    const collection = await scores()
    await collection.put('a', { points: 1 })
    await collection.put('b', { points: 2 })
    const seen: Change<Score>[] = []
    for await (const change of collection.changes()) {
      seen.push(change)
      if (seen.length === 2) await collection.put('a', { points: 3 })
      if (seen.length === 3) break
    }
    expect(seen.map(({ key, cursor }) => [key, typeof cursor])).toEqual([
      ['a', 'undefined'],
      ['b', 'string'],
      ['a', 'string'],
    ])
    await collection.delete('b')
    for await (const change of collection.changes({ since: seen[2]!.cursor })) {
      expect(change).toMatchObject({ key: 'b', deleted: true })
      break
    }
  })

  it('begins with all entries without a cursor, also with an empty one', async () => {
    const collection = await scores()
    await collection.put('a', { points: 1 })
    for (const since of [undefined, '']) {
      expect((await collection.changes({ since }).next()).value).toMatchObject({ key: 'a', value: { points: 1 } })
    }
  })

  it('is rejected when its changes are no longer stored, and ends with its signal', async () => {
    const collection = await scores()
    await collection.put('a', { points: 1 })
    const { value: first } = await collection.changes().next()
    await expireCursors(world.db, world.ids)
    await expect(collection.changes({ since: first.cursor }).next()).rejects.toSatisfy(
      (error) => error instanceof ApiError && error.status === 410,
    )
    const ending = new AbortController()
    const changes = collection.changes({ signal: ending.signal })
    await changes.next()
    const next = changes.next()
    await waiting(1)
    ending.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
    await waiting(0)
  })
})

describe('live()', () => {
  it('is filled, kept current, and another map after each change', async () => {
    const collection = await scores()
    await collection.put('b', { points: 1 })
    const live = collection.live()
    expect([live.state, live.getSnapshot().size]).toEqual(['loading', 0])
    follow(live)
    await expect.poll(() => live.state).toBe('current')
    const before = live.getSnapshot()
    expect(readPoints(live)).toEqual({ b: 1 })
    await waiting(1)
    await collection.put('a', { points: 2 })
    await expect.poll(() => readPoints(live)).toEqual({ a: 2, b: 1 })
    expect([...live.entries.keys()]).toEqual(['a', 'b'])
    expect([before.size, live.getSnapshot() === live.entries]).toEqual([1, true])
    await collection.delete('b')
    await expect.poll(() => readPoints(live)).toEqual({ a: 2 })
  })

  it('is never seen in parts, however many pages it has', async () => {
    const collection = await scores()
    const { app, club } = world.ids
    await world.db
      .$executeRaw`SELECT storage_write(${app}, ${club}, '', ${name}, 'k' || n, '{"points":1}', gen_random_uuid(),
      now(), 1000000, null, null, null, false) FROM generate_series(1, 120) n`
    const live = collection.live()
    const sizes = new Set<number>()
    onTestFinished(live.subscribe(() => sizes.add(live.entries.size)))
    await expect.poll(() => live.state).toBe('current')
    expect([...sizes]).toEqual([120])
  })

  it('waits for nothing once nobody listens, and goes on with the next listener', async () => {
    const collection = await scores()
    const live = collection.live()
    const first = follow(live)
    const second = follow(live)
    await waiting(1)
    first.stop()
    second.stop()
    await waiting(0)
    await collection.put('a', { points: 1 })
    follow(live)
    await expect.poll(() => readPoints(live)).toEqual({ a: 1 })
  })

  /** With an entry, which has been shown to somebody who has left. */
  async function shownOnce() {
    const collection = await scores()
    await collection.put('a', { points: 1 })
    const live = collection.live()
    const { stop } = follow(live)
    await expect.poll(() => readPoints(live)).toEqual({ a: 1 })
    stop()
    return { collection, live }
  }

  it('begins again when its changes are no longer stored', async () => {
    const { collection, live } = await shownOnce()
    await collection.delete('a')
    await collection.put('b', { points: 2 })
    await expireCursors(world.db, world.ids)
    follow(live)
    await expect.poll(() => readPoints(live)).toEqual({ b: 2 })
  })

  it('is empty when it begins again and the last entry was removed', async () => {
    const { collection, live } = await shownOnce()
    await collection.delete('a')
    await expireCursors(world.db, world.ids)
    const { states } = follow(live)
    await expect.poll(() => readPoints(live)).toEqual({})
    expect(states).toEqual(['current'])
  })

  it('shows the changes of a page that an empty one follows', async () => {
    const { collection, live } = await shownOnce()
    // A page ends after 1,000 changes: these are all of one key.
    const { app, club } = world.ids
    await world.db
      .$executeRaw`SELECT storage_write(${app}, ${club}, '', ${name}, 'a', to_jsonb(n)::text, gen_random_uuid(),
      now(), 1000000, null, null, null, false) FROM generate_series(1, 999) n`
    await collection.put('a', { points: 2 })
    follow(live)
    await expect.poll(() => readPoints(live)).toEqual({ a: 2 })
  })

  it('begins again when another member signs in', async () => {
    const { db, ids } = world
    const other = id('person')
    await db.person.create({ data: { id: other, firstName: 'N', lastName: 'N', email: '' } })
    await db.membership.create({ data: { organisationId: ids.club, personId: other } })
    let token = await world.token()
    const asCurrent: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers)
      headers.set('authorization', `Bearer ${token}`)
      return fetch(url, { ...init, headers })
    }
    const collection = await scores(asCurrent)
    await collection.put('a', { points: 1 })
    const live = collection.live()
    const { states, stop } = follow(live)
    await expect.poll(() => readPoints(live)).toEqual({ a: 1 })
    stop()
    token = await world.token({ sub: other })
    await collection.put('b', { points: 2 })
    follow(live)
    await expect.poll(() => readPoints(live)).toEqual({ a: 1, b: 2 })
    expect(states).not.toContain('ended')
  })

  /** The events of a browser, where the pause between two attempts is longer than the test. */
  function stubEvents() {
    const events = new EventTarget()
    vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
    vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events))
    const random = vi.spyOn(Math, 'random').mockReturnValue(1_000)
    onTestFinished(() => {
      random.mockRestore()
      vi.unstubAllGlobals()
    })
    return events
  }

  it.each([200, 403, 404, 410])('is offline while a proxy answers %s with a page of its own', async (status) => {
    const events = stubEvents()
    let asked = 0
    let isThere = false
    const collection = await scores(async (url, init) => {
      if (isThere) return fetch(url, init)
      asked++
      return new Response('<html>', { status })
    })
    const live = collection.live()
    follow(live)
    await expect.poll(() => live.state).not.toBe('loading')
    expect([live.state, live.error, asked]).toEqual(['offline', expect.any(ApiError), 1])
    isThere = true
    events.dispatchEvent(new Event('online'))
    await expect.poll(() => live.state).toBe('current')
  })

  it('keeps its entries while the service is away, and is current at once when the browser is online', async () => {
    const events = stubEvents()
    let isAway = false
    const collection = await scores((url, init) =>
      isAway ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init),
    )
    await collection.put('a', { points: 1 })
    const live = collection.live()
    const { states } = follow(live)
    await waiting(1)
    isAway = true
    // The waiting request returns, and the next one fails.
    await (await scores()).put('b', { points: 2 })
    await expect.poll(() => live.state).toBe('offline')
    expect([readPoints(live), live.error]).toEqual([{ a: 1, b: 2 }, expect.any(TypeError)])
    isAway = false
    events.dispatchEvent(new Event('online'))
    await expect.poll(() => live.state).toBe('current')
    expect([states, live.error]).toEqual([['current', 'current', 'offline', 'current'], undefined])
  })

  it('ends with a refusal that stays', async () => {
    const live = (await scores(fetch, await world.token({ scope: 'svc.me.profile:read' }))).live()
    follow(live)
    await expect.poll(() => live.state).toBe('ended')
    expect(live.error).toMatchObject({ status: 403, scope: 'svc.apps.storage:read' })
  })
})
