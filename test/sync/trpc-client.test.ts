import type { TRPCClientError } from '@trpc/client'
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { AppRouter } from '../../routers/client-router.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { sharedDatabase, startWorld } from '../support/world.ts'

let world: World
let collection: string
/** The statements by which a stream reads. */
const READINGS = new Set(['storage_snapshot', 'storage_changes'])
/** Thrown in place of the next reading. */
let failure: Error | undefined
const failing = () =>
  new Proxy(sharedDatabase(), {
    get(db, name) {
      if (name !== 'execute') return Reflect.get(db, name)
      const execute: Database['execute'] = async (statement, values) => {
        const thrown = failure
        if (!thrown || !READINGS.has(statement.name)) return db.execute(statement, values)
        failure = undefined
        throw thrown
      }
      return execute
    },
  })

beforeAll(async () => {
  world = await startWorld({ db: failing() })
})
afterAll(() => world.close())
beforeEach(() => {
  collection = id('c')
})
afterEach(() => expect.poll(() => world.longPollSlots.size).toBe(0))

/** As an application has it that does not use `member-apps-client`. */
async function watch(token: () => Promise<string>) {
  const keys: string[] = []
  const states: string[] = []
  const requests: (string | undefined)[] = []
  let [ended, error]: [boolean, TRPCClientError<AppRouter> | undefined] = [false, undefined]
  const link = httpSubscriptionLink<AppRouter, typeof EventSource>({
    url: `http://127.0.0.1:${world.internalPort}/trpc`,
    EventSource,
    eventSourceOptions: {
      async fetch(address, init) {
        requests.push(init.headers['Last-Event-ID'])
        return fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${await token()}` } })
      },
    },
  })
  const { unsubscribe } = createTRPCClient<AppRouter>({ links: [link] }).storage.watch.subscribe(
    { collection },
    {
      onStarted: () => void states.push('started'),
      onData: ({ data }) => void keys.push(data.key),
      onConnectionStateChange: ({ state, error }) =>
        void states.push(error?.data ? `${state}: ${error.message}` : state),
      onComplete: () => {
        ended = true
      },
      onError(thrown) {
        error = thrown
      },
    },
  )
  return { keys, states, requests, outcome: () => ({ ended, error }), unsubscribe }
}

const put = async (key: string) => {
  expect((await world.call('PUT', `/storage/${collection}/${key}`, { body: { value: 1 } })).status).toBe(200)
}

describe("tRPC's own client", () => {
  it('starts, gets changes, and ends when it unsubscribes', async () => {
    const { keys, states, unsubscribe, outcome } = await watch(world.token)
    await expect.poll(() => states).toEqual(['connecting', 'started', 'pending'])
    await put('a')
    await expect.poll(() => keys).toEqual(['a'])
    unsubscribe()
    expect(outcome()).toEqual({ ended: true, error: undefined })
  })

  it('goes on after its last event when its token has ended', async () => {
    const { keys, requests, unsubscribe, outcome } = await watch(() => world.token({ exp: world.now() + 60 }))
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    await put('a')
    await expect.poll(() => keys).toEqual(['a'])
    world.advance(61)
    await world.core.accessWatch.check()
    await put('b')
    await expect.poll(() => keys).toEqual(['a', 'b'])
    expect(requests).toEqual([undefined, expect.any(String)])
    expect(outcome()).toEqual({ ended: false, error: undefined })
    unsubscribe()
  })

  it('goes on after an error of the service, whose cause it does not see', async () => {
    const { keys, states, unsubscribe } = await watch(world.token)
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    failure = new Error('the cause')
    await put('a')
    await expect.poll(() => keys).toEqual(['a'])
    expect(states).toContain('connecting: Something went wrong on our side.')
    unsubscribe()
  })

  it('ends where it has fallen too far behind', async () => {
    const { outcome } = await watch(world.token)
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    failure = errors.cursorExpired()
    await put('a')
    await expect.poll(() => outcome().error).toMatchObject({ data: { httpStatus: 410, error: 'cursor_expired' } })
  })

  it('ends with the status of a refusal', async () => {
    const { outcome } = await watch(() => world.token({ scope: 'svc.me.profile:read' }))
    await expect.poll(() => outcome().error).toMatchObject({ message: expect.stringContaining('403') })
  })
})
