import { createServer, request } from 'node:http'
import { beforeEach, describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import type { Client, ClientOptions, Json } from '../../clients/first-party/client.ts'
import { createClient, TRPCClientError } from '../../clients/first-party/client.ts'
import { expectSame } from '../storage/exact.ts'
import { few, parsedOtherwise } from '../storage/values.ts'
import { deferred } from '../support/deferred.ts'
import { listenLocally } from '../support/local-server.ts'
import { platformClaims } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { runTimers } from './run-timers.ts'

const world = useWorld()

/** A client whose requests are noted: method and the first name in the path. */
function noting(options: Partial<ClientOptions> & Pick<ClientOptions, 'token'>, port = world.internalPort) {
  const requests: { method: string; calls: number; bytes: number }[] = []
  const client = createClient({
    url: `http://127.0.0.1:${port}/trpc`,
    fetch: (address, init) => {
      const calls = new URL(String(address)).pathname.split(',').length
      requests.push({ method: init!.method!, calls, bytes: String(init!.body ?? '').length })
      return fetch(address, init)
    },
    ...options,
  })
  return { client, requests }
}

const failure = (error: unknown) => {
  if (!(error instanceof TRPCClientError)) throw error
  return { status: error.data?.httpStatus, message: error.message }
}
const sentCalls = (requests: { calls: number }[]) => requests.reduce((sum, { calls }) => sum + calls, 0)
const numbers = (count: number) => [...Array(count).keys()]

describe('a batch', () => {
  it('of 60 calls is sent in two requests, and each call gets its own answer', async () => {
    const { client, requests } = noting({ token: await world.token() })
    const at = (i: number) => ({ collection: 'batch', key: `k${i}` })
    await Promise.all(numbers(60).map((i) => client.storage.put.mutate({ ...at(i), value: { i } })))
    const found = await Promise.all(numbers(60).map((i) => client.storage.get.query(at(i))))
    expect(found.map(({ value }) => value)).toEqual(numbers(60).map((i) => ({ i })))
    expect(requests.map(({ method, calls }) => [method, calls])).toEqual([
      ['POST', 50],
      ['POST', 10],
      ['GET', 50],
      ['GET', 10],
    ])
  })

  it('has no input of more than 20 kB, so that its body is one that the service reads, and a value of 5 MiB is stored', async () => {
    const { client, requests } = noting({ token: await world.token(platformClaims(world)) })
    const publish = (i: number) => {
      const data = 'x'.repeat(i === 50 ? 200_000 : 19_500)
      return client.events.publish.mutate({ app: world.ids.app, type: 't', data, id: `large-${i}` })
    }
    const published = await Promise.all(numbers(51).map(publish))
    expect(published.map(({ id }) => id)).toEqual(numbers(51).map((i) => `large-${i}`))
    expect(requests.map(({ calls }) => calls).sort()).toEqual([1, 50])

    const app = noting({ token: await world.token() })
    const value = 'ü'.repeat(2.5 * 1024 * 1024)
    const [large, small] = await Promise.all([
      app.client.storage.put.mutate({ collection: 'large', key: 'large', value }),
      app.client.storage.put.mutate({ collection: 'large', key: 'small', value: 1 }),
    ])
    expect([large.value === value, small.value]).toEqual([true, 1])
    expect(app.requests.map(({ calls }) => calls)).toEqual([1, 1])
  })

  it('has no call that waits for a change: the others are answered before it', async () => {
    const { client, requests } = noting({ token: await world.token() })
    const collection = { collection: 'awaited' }
    const { cursor } = await client.storage.changes.query(collection)
    const waiting = client.storage.changes.query({ ...collection, since: cursor, wait: 50 })
    const [found] = await Promise.all([client.storage.list.query(collection), client.storage.list.query(collection)])
    expect(found.total).toBe(0)
    await client.storage.put.mutate({ ...collection, key: 'k', value: 1 })
    expect((await waiting).items).toMatchObject([{ key: 'k', value: 1 }])
    expect(requests.map(({ calls }) => calls)).toEqual([1, 1, 2, 1])
  })

  it('of queries is split where its address would be too long', async () => {
    const { client, requests } = noting({ token: await world.token() })
    const keys = numbers(40).map((i) => `${i}-${'k'.repeat(61 - String(i).length)}`)
    const read = (key: string) => client.storage.get.query({ collection: 'c'.repeat(64), key }).catch(failure)
    const answers = await Promise.all(keys.map(read))
    expect(new Set(answers.map((answer) => 'status' in answer && answer.status))).toEqual(new Set([404]))
    expect(requests.length).toBeGreaterThan(1)
  })

  it('of one call is a single call, also where the answer has no data', async () => {
    const { client } = noting({ token: await world.token() })
    const at = { collection: 'single', key: 'k' }
    await client.storage.put.mutate({ ...at, value: 1 })
    expect(await client.storage.delete.mutate(at)).toBeUndefined()
    expect(await client.storage.get.query(at).catch(failure)).toMatchObject({ status: 404 })
    const unserialisable = client.storage.put.mutate({ ...at, value: 1n as unknown as Json })
    expect(await unserialisable.catch(failure)).toMatchObject({ message: expect.stringContaining('BigInt') })
  })

  it('rejects one call and answers the others when one is wrong', async () => {
    const { client, requests } = noting({ token: await world.token() })
    const [root, wrong] = await Promise.all([
      client.root.query(),
      client.storage.list.query({ collection: 'a', limit: 0 }).catch(failure),
    ])
    expect(root).toEqual({ api: 'apps', organisation: world.ids.club })
    expect(wrong).toEqual({ status: 422, message: 'limit is 1 to 200.' })
    expect(requests).toHaveLength(1)
  })
})

describe('a token that is refused', () => {
  const expired = () => world.token({ exp: world.now() - 3600 })

  it('is renewed once for all calls that had it, and they are repeated', async () => {
    const asked: { renew: boolean }[] = []
    const { client, requests } = noting({
      async token(options) {
        asked.push(options)
        return options.renew ? world.token() : expired()
      },
    })
    const at = { collection: 'renewed', ifNoneMatch: '*' }
    const put = (i: number) => client.storage.put.mutate({ ...at, key: `k${i}`, value: i })
    const [stored, root] = await Promise.all([Promise.all(numbers(60).map(put)), client.root.query()])
    expect(stored.map(({ value }) => value)).toEqual(numbers(60))
    expect(root.api).toBe('apps')
    expect(asked).toEqual([{ renew: false }, { renew: true }])
    expect(sentCalls(requests)).toBe(122)
    await client.root.query()
    expect(asked).toHaveLength(2)
  })

  it('rejects the call when the renewed one is refused too', async () => {
    const { client, requests } = noting({ token: expired })
    expect(await client.root.query().catch(failure)).toEqual({ status: 401, message: 'This token has expired.' })
    expect(requests).toHaveLength(2)
  })

  it('rejects the call at once when it is a string', async () => {
    const { client, requests } = noting({ token: await expired() })
    expect(await client.root.query().catch(failure)).toEqual({ status: 401, message: 'This token has expired.' })
    expect(requests).toHaveLength(1)
  })

  it('is asked for again by the next call when it could not be got', async () => {
    let asked = 0
    const { client } = noting({
      token: () => {
        if (asked++ === 0) throw new Error('No token today.')
        return world.token()
      },
    })
    expect(await client.root.query().catch(failure)).toEqual({ status: undefined, message: 'No token today.' })
    expect(await client.root.query()).toMatchObject({ api: 'apps' })
  })
})

describe('Retry-After', () => {
  let limited: World
  beforeEach(async () => {
    limited = await startWorld()
    onTestFinished(() => limited.close())
    await limited.db.team.update({ where: { id: limited.ids.team }, data: { level: 'hobby' } })
  })
  /** Uses up all but some of the 60 requests of the window, which ends in 7 s. */
  async function leave(count: number) {
    const { client } = noting({ token: await limited.token(), maxWaitSeconds: 0 }, limited.internalPort)
    for (const part of [30, 30 - count]) await Promise.all(numbers(part).map(() => client.root.query()))
    limited.advance(53)
  }

  it('of 429 is waited for, and only the refused calls of a batch are repeated', async () => {
    const { client, requests } = noting({ token: await limited.token() }, limited.internalPort)
    await leave(3)
    const timers = runTimers(7_000, 5, () => limited.advance(7))
    const put = (i: number) =>
      client.storage.put.mutate({ collection: 'waited', key: `k${i}`, value: i, ifNoneMatch: '*' })
    const stored = await Promise.all(numbers(8).map(put))
    expect(stored.map(({ value }) => value)).toEqual(numbers(8))
    expect(timers).toHaveLength(5)
    expect(requests.map(({ calls }) => calls)).toEqual([8, 5])
  })

  it('that exceeds the bound rejects the call at once', async () => {
    const { client, requests } = noting({ token: await limited.token(), maxWaitSeconds: 6.9 }, limited.internalPort)
    await leave(0)
    const timers = runTimers(7_000, 1)
    const refused = await client.root.query().catch(failure)
    expect(refused).toEqual({ status: 429, message: 'The request quota is exhausted; try again in 7 s.' })
    expect([requests.length, timers]).toEqual([1, []])
  })

  it('ends with the signal of the call, which is rejected with its reason', async () => {
    const { client, requests } = noting({ token: await limited.token() }, limited.internalPort)
    await leave(0)
    const timers = runTimers(7_000, 2)
    const ending = new AbortController()
    const call = client.root.query(undefined, { signal: ending.signal }).catch(failure)
    await expect.poll(() => timers.length).toBe(1)
    ending.abort(new Error('Enough.'))
    expect(await call).toEqual({ status: undefined, message: 'Enough.' })
    limited.advance(7)
    timers[0]!()
    // It would be in this request.
    expect(await client.root.query()).toMatchObject({ api: 'apps' })
    expect(requests.map(({ calls }) => calls)).toEqual([1, 1])
  })
})

describe('a proxy that answers 503', () => {
  /** Answers the first requests as proxies do, with a page, and passes on the others. */
  function proxy(failures: number, headers: Record<string, string>) {
    const server = createServer((incoming, response) => {
      if (failures-- > 0) return response.writeHead(503, { 'content-type': 'text/html', ...headers }).end('<html>')
      const { url: path, method, headers: given } = incoming
      const onward = request(
        { port: world.internalPort, host: '127.0.0.1', path, method, headers: given },
        (answer) => {
          answer.pipe(response.writeHead(answer.statusCode!, answer.headers))
        },
      )
      incoming.pipe(onward)
    })
    return listenLocally(server)
  }

  it('has its queries repeated after Retry-After', async () => {
    const port = await proxy(2, { 'retry-after': '7' })
    const timers = runTimers(7_000, 2)
    const { client, requests } = noting({ token: await world.token() }, port)
    expect(await Promise.all([client.root.query(), client.me.groups.query()])).toEqual([
      { api: 'apps', organisation: world.ids.club },
      { items: [] },
    ])
    expect(timers).toHaveLength(4)
    expect(requests.map(({ calls }) => calls)).toEqual([2, 2, 2])
  })

  it('has no mutation repeated, as it may have been executed', async () => {
    const { client, requests } = noting({ token: await world.token() }, await proxy(1, { 'retry-after': '7' }))
    const put = client.storage.put.mutate({ collection: 'proxied', key: 'k', value: 1 })
    expect(await put.catch(failure)).toEqual({ status: 503, message: 'The answer is 503, and not one of tRPC.' })
    expect(requests).toHaveLength(1)
  })

  it('has nothing repeated without Retry-After', async () => {
    const { client, requests } = noting({ token: await world.token() }, await proxy(1, {}))
    expect(await client.root.query().catch(failure)).toMatchObject({ status: 503 })
    expect(requests).toHaveLength(1)
  })
})

it('the answers of another fetch, as of node-fetch, are read with their own functions', async () => {
  class OtherResponse {
    readonly #answer: Response
    constructor(answer: Response) {
      this.#answer = answer
    }
    get headers() {
      return this.#answer.headers
    }
    get ok() {
      return this.#answer.ok
    }
    get status() {
      return this.#answer.status
    }
    json = () => this.#answer.json()
  }
  const other = async (...sent: Parameters<typeof fetch>) =>
    new OtherResponse(await fetch(...sent)) as unknown as Response
  const { client } = noting({ token: await world.token(), fetch: other })
  expect(await client.root.query()).toEqual({ api: 'apps', organisation: world.ids.club })
})

describe('the signal of a call', () => {
  it('rejects that call of a batch at once, and the others are answered', async () => {
    const released = deferred()
    const { client } = noting({
      token: await world.token(),
      fetch: async (address, init) => {
        await released.promise
        return fetch(address, init)
      },
    })
    const ending = new AbortController()
    const ended = client.root.query(undefined, { signal: ending.signal }).catch(failure)
    const other = client.me.groups.query()
    setTimeout(() => ending.abort(new Error('Enough.')), 20)
    expect(await ended).toEqual({ status: undefined, message: 'Enough.' })
    released.resolve()
    expect(await other).toEqual({ items: [] })
  })

  it('ends a request once nobody waits for any of its calls', async () => {
    const signals: AbortSignal[] = []
    const { client } = noting({
      token: await world.token(),
      fetch: (_, init) => {
        signals.push(init!.signal!)
        return new Promise(() => {})
      },
    })
    const endings = [new AbortController(), new AbortController()]
    const calls = endings.map(({ signal }) => client.root.query(undefined, { signal }).catch(failure))
    await expect.poll(() => signals.length).toBe(1)
    endings[0]!.abort()
    await calls[0]
    expect(signals[0]!.aborted).toBe(false)
    endings[1]!.abort()
    await calls[1]
    expect(signals[0]!.aborted).toBe(true)
  })

  it('that has ended already sends nothing', async () => {
    const { client, requests } = noting({ token: await world.token() })
    const ended = client.root.query(undefined, { signal: AbortSignal.abort(new Error('Too late.')) })
    expect(await ended.catch(failure)).toEqual({ status: undefined, message: 'Too late.' })
    expect(requests).toEqual([])
  })
})

describe('values', () => {
  it.each([...few, ...parsedOtherwise])('come back as they went: %s', async (_name, text) => {
    const { client } = noting({ token: await world.token() })
    const value: Json = JSON.parse(text)
    const at = { collection: 'fidelity', key: 'k' }
    expectSame((await client.storage.put.mutate({ ...at, value })).value, JSON.parse(JSON.stringify(value)))
    expectSame((await client.storage.get.query(at)).value, JSON.parse(JSON.stringify(value)))
  })

  it('are typed as JSON, and undefined does not compile', () => {
    const calls = (client: Client) => {
      const at = { collection: 'c', key: 'k' }
      // @ts-expect-error A value is required.
      client.storage.put.mutate(at)
      // @ts-expect-error It is never undefined,
      client.storage.put.mutate({ ...at, value: undefined })
      // @ts-expect-error and has no field that is.
      client.storage.put.mutate({ ...at, value: { note: undefined } })
      // @ts-expect-error JSON has no dates.
      client.storage.put.mutate({ ...at, value: new Date() })
      // @ts-expect-error Neither is the data of an event.
      client.events.publish.mutate({ app: 'a', type: 't', data: undefined })
      return { get: client.storage.get.query(at), list: client.storage.list.query(at), put: client.storage.put.mutate }
    }
    type Calls = ReturnType<typeof calls>
    expectTypeOf<Awaited<Calls['get']>['value']>().toEqualTypeOf<Json>()
    expectTypeOf<Awaited<Calls['list']>['items'][number]['value']>().toEqualTypeOf<Json>()
    expectTypeOf<Parameters<Calls['put']>[0]['value']>().toEqualTypeOf<Json>()
  })
})
