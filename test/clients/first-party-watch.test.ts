import { describe, expect, it } from 'vitest'
import type { ClientOptions } from '../../clients/first-party/client.ts'
import { createClient } from '../../clients/first-party/client.ts'
import { callAs } from '../../routers/core.ts'
import { times } from '../support/rounds.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()

const clientWith = (token: ClientOptions['token'], send?: typeof fetch) =>
  createClient({ url: `http://127.0.0.1:${world.internalPort}/trpc`, token, ...(send && { fetch: send }) })

/** Sends these first, in place of a request each. */
function answeredBy(...first: Response[]) {
  const statuses: number[] = []
  const send: typeof fetch = async (address, init) => {
    const answer = first.shift() ?? (await fetch(address, init))
    statuses.push(answer.status)
    return answer
  }
  return { send, statuses }
}

interface Watched {
  events: { id: string; data: { key: string } }[]
  error?: unknown
}

function watchWith(client: ReturnType<typeof createClient>, input: { collection: string; since?: string }) {
  const watched: Watched = { events: [] }
  const subscription = client.storage.watch.subscribe(input, {
    onData: (event) => void watched.events.push(event),
    onError(error) {
      watched.error = error
    },
  })
  return { watched, keys: () => watched.events.map(({ data }) => data.key), ...subscription }
}

const put = (client: ReturnType<typeof createClient>, collection: string, key: string, value: string | number = 1) =>
  client.storage.put.mutate({ collection, key, value })

describe('storage.watch of the first-party client', () => {
  it('gets the entries, then each change, typed, and ends with unsubscribe', async () => {
    const collection = id('c')
    const client = clientWith(await world.token())
    await put(client, collection, 'a', 'line\nbreak')
    const { watched, keys, unsubscribe } = watchWith(client, { collection })
    await expect.poll(keys).toEqual(['a'])
    await put(client, collection, 'b', 2)
    await client.storage.delete.mutate({ collection, key: 'a' })
    await expect.poll(keys).toEqual(['a', 'b', 'a'])
    expect(watched.events.map(({ data }) => data)).toEqual([
      { key: 'a', value: 'line\nbreak', updatedAt: expect.any(Number), etag: expect.stringMatching(/^"/) },
      { key: 'b', value: 2, updatedAt: expect.any(Number), etag: expect.stringMatching(/^"/) },
      { key: 'a', updatedAt: expect.any(Number), deleted: true },
    ])
    unsubscribe()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })

  it('begins with another token when the service refuses the first', async () => {
    const asked: boolean[] = []
    const client = clientWith(({ renew }) => {
      asked.push(renew)
      return renew ? world.token() : world.token({ exp: world.now() - 1 })
    })
    const collection = id('c')
    const { keys, unsubscribe } = watchWith(client, { collection })
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    await put(client, collection, 'a')
    await expect.poll(keys).toEqual(['a'])
    expect(asked).toEqual([false, true])
    unsubscribe()
  })

  it('goes on after its last event when its token has ended', async () => {
    const collection = id('c')
    const client = clientWith(() => world.token({ exp: world.now() + 60 }))
    const { keys, unsubscribe } = watchWith(client, { collection })
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    await put(client, collection, 'a')
    await expect.poll(keys).toEqual(['a'])
    world.advance(61)
    await world.core.accessWatch.check()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
    await put(client, collection, 'b')
    await expect.poll(keys).toEqual(['a', 'b'])
    unsubscribe()
  })

  /** Watches a collection with a client whose tokens end every 8 s; `perEnd` renewals are asked for at each end. */
  async function watchesOn(
    tokens: (call: { renew: boolean }) => Promise<string>,
    renewals: () => number,
    perEnd: number,
  ) {
    const collection = id('c')
    const { watched, keys, unsubscribe } = watchWith(clientWith(tokens), { collection })
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    const written: string[] = []
    for (let end = 1; end <= times(20, 4); end++) {
      world.advance(9)
      await world.core.accessWatch.check()
      await put(clientWith(await world.token()), collection, `k${end}`)
      written.push(`k${end}`)
      await expect.poll(keys).toEqual(written)
      expect(renewals()).toBe(end * perEnd)
    }
    expect(watched.error).toBeUndefined()
    unsubscribe()
  }
  const shortToken = () => world.token({ exp: world.now() + 8 })

  it('goes on for ever with tokens that end, also when they end before it is opened', async () => {
    let renewals = 0
    const tokens = ({ renew }: { renew: boolean }) => {
      if (renew) renewals++
      return shortToken()
    }
    await watchesOn(tokens, () => renewals, 1)
  })

  it('goes on for ever where the first renewal after each end returns the refused token', async () => {
    let token = await shortToken()
    let renewals = 0
    const tokens = async ({ renew }: { renew: boolean }) => {
      // Its own clock is late.
      if (renew && ++renewals % 2 === 0) token = await shortToken()
      return token
    }
    await watchesOn(tokens, () => renewals, 2)
  })

  it('ends when the renewed tokens are refused too', async () => {
    const asked: boolean[] = []
    const client = clientWith(({ renew }) => {
      asked.push(renew)
      return world.token({ exp: world.now() - 1 })
    })
    const { watched } = watchWith(client, { collection: id('c') })
    await expect.poll(() => watched.error).toMatchObject({ data: { httpStatus: 401 } })
    expect(asked).toEqual([false, true, true, true])
  })

  it.each([
    ['a forged cursor', () => world.token(), { since: 'MA' }, 400, 'since is not a cursor of this collection.'],
    [
      'a token without the scope',
      () => world.token({ scope: 'svc.me.profile:read' }),
      {},
      403,
      'This token does not carry the svc.apps.storage:read scope.',
    ],
  ])('rejects with %s', async (_, token, input, httpStatus, message) => {
    const { watched } = watchWith(clientWith(await token()), { collection: id('c'), ...input })
    await expect.poll(() => watched.error).toMatchObject({ data: { httpStatus }, message })
    expect(world.longPollSlots.size).toBe(0)
  })
})

describe('storage.watch of the first-party client, where it is refused', () => {
  /** Expects that a stream that gets these answers first begins, and goes on without an error. */
  async function expectBegins(answers: Response[], statuses: number[]) {
    const collection = id('c')
    const token = await world.token()
    const answered = answeredBy(...answers)
    const { watched, keys, unsubscribe } = watchWith(clientWith(token, answered.send), { collection })
    await expect.poll(() => answered.statuses).toEqual(statuses)
    await put(clientWith(token), collection, 'a')
    await expect.poll(keys).toEqual(['a'])
    expect(watched.error).toBeUndefined()
    unsubscribe()
  }

  it('waits as Retry-After says while too many streams are open, and begins when there is a place', async () => {
    const collection = id('c')
    const token = await world.token()
    const others = [1, 2, 3, 4, 5].map(() => watchWith(clientWith(token), { collection }))
    await expect.poll(() => world.longPollSlots.size).toBe(5)
    const { send, statuses } = answeredBy()
    const { watched, keys, unsubscribe } = watchWith(clientWith(token, send), { collection })
    await expect.poll(() => statuses).toEqual([429])
    for (const other of others) other.unsubscribe()
    await expect.poll(() => statuses.at(-1)).toBe(200)
    await put(clientWith(token), collection, 'a')
    await expect.poll(keys).toEqual(['a'])
    expect(watched.error).toBeUndefined()
    unsubscribe()
  })

  it('waits in its own fetch as often as it is refused, and reconnects as fast as before', async () => {
    const limited = () => new Response('{}', { status: 429, headers: { 'retry-after': '1' } })
    await expectBegins([limited(), limited(), limited()], [429, 429, 429, 200])
  })

  it('goes on after 503 of the service and 502 of a proxy', async () => {
    const unavailable = (status: number, body: string) =>
      new Response(body, { status, headers: { 'retry-after': '0' } })
    const failure = { message: 'Unavailable.', code: -32603, data: { httpStatus: 503, error: 'unavailable' } }
    const answers = [unavailable(503, JSON.stringify({ error: failure })), unavailable(502, '<html>')]
    await expectBegins(answers, [503, 502, 200])
  })

  it('is rejected by the refusal of a proxy', async () => {
    const { send } = answeredBy(new Response('<html>', { status: 403 }))
    const { watched } = watchWith(clientWith(await world.token(), send), { collection: id('c') })
    const message = 'The answer is 403, and not one of tRPC.'
    await expect.poll(() => watched.error).toMatchObject({ data: { httpStatus: 403 }, message })
  })
})

describe('storage.watch in process', () => {
  it('leaves nothing behind when nobody reads it', async () => {
    const ending = new AbortController()
    await callAs(world.core, world.principal(), ending).storage.watch({ collection: id('c') })
    expect(world.core.watch.size).toBe(1)
    ending.abort()
    expect(world.core.watch.size).toBe(0)
  })

  it('is an async iterable that ends with its signal', async () => {
    const ending = new AbortController()
    const caller = callAs(world.core, world.principal(), ending)
    const collection = id('c')
    await caller.storage.put({ collection, key: 'a', value: { n: 1 } })
    const events = await caller.storage.watch({ collection })
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const { id: cursor, data } of events) {
        seen.push({ cursor, data })
        if (data.key === 'a') await caller.storage.put({ collection, key: 'b', value: 2 })
        else ending.abort()
      }
    })()
    await expect(reading).rejects.toThrow('aborted')
    expect(seen).toMatchObject([{ data: { key: 'a', value: { n: 1 } } }, { data: { key: 'b', value: 2 } }])
    expect(world.core.watch.size).toBe(0)
  })
})
