import type { TRPCClientError } from '@trpc/client'
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { AppRouter } from '../../routers/client-router.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { openEvents } from '../support/event-stream.ts'
import { expireCursors } from '../support/expired-cursors.ts'
import { fakeBeats } from '../support/fake-beats.ts'
import { started, useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { sharedDatabase, startWorld } from '../support/world.ts'

const log: { path: string; status: number }[] = []
const world = useWorld({ onLog: (line) => void log.push(JSON.parse(line)) })
let collection: string
beforeEach(() => {
  collection = id('c')
})
afterEach(() => expect.poll(() => world.longPollSlots.size).toBe(0))

interface Options {
  path?: string
  input?: object | string
  query?: string
  claims?: object
  token?: string
  headers?: Record<string, string>
}

const makeTarget = ({ path = 'storage.watch', input = { collection }, query = '' }: Options) =>
  `/trpc/${path}?input=${encodeURIComponent(typeof input === 'string' ? input : JSON.stringify(input))}${query}`
const makeHeaders = async ({ claims, token, headers }: Options) => ({
  authorization: `Bearer ${token ?? (await world.token({ ...claims }))}`,
  ...headers,
})
const open = async (options: Options = {}) =>
  openEvents(world.internalPort, makeTarget(options), await makeHeaders(options))
const ask = async (options: Options, method = 'GET') =>
  world.internal(method, makeTarget(options), { headers: await makeHeaders(options) })

const put = async (key: string, value: unknown) => {
  const reply = await world.call('PUT', `/storage/${collection}/${key}`, { body: { value } })
  expect(reply.status).toBe(200)
}

describe('storage.watch over tRPC', () => {
  it('begins with a pause for the client and `connected`, then sends tracked events', async () => {
    await put('a', { n: 1 })
    const stream = await open()
    const [a] = await stream.take(1)
    expect(a).toMatchObject({ id: expect.any(String), data: { key: 'a', value: { n: 1 } } })
    expect(stream.others).toEqual([expect.stringMatching(/^retry: [12]\d{3}$/), 'event: connected\ndata: {}'])
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store',
      'x-accel-buffering': 'no',
      vary: 'trpc-accept, accept',
      'x-request-id': expect.any(String),
    })
    stream.close()
  })

  it.each([
    ['a path with escapes', { path: 'storage%2Ewatch' }],
    ['connectionParams', { query: '&connectionParams=null' }],
    ['trpc-accept', { headers: { 'trpc-accept': 'application/jsonl' } }],
  ])('takes %s', async (_, options: Options) => {
    await put('a', 1)
    const stream = await open(options)
    expect((await stream.take(1))[0]!.data).toMatchObject({ key: 'a', value: 1 })
    stream.close()
  })

  it('resumes after Last-Event-ID, as a header or in the query, and after lastEventId of its input', async () => {
    for (const key of ['a', 'b']) await put(key, 1)
    const stream = await open()
    const [{ id: lastEventId } = { id: '' }] = await stream.take(1)
    stream.close()
    for (const options of [
      { headers: { 'last-event-id': lastEventId }, input: { collection, since: 'x' } },
      { input: { collection, lastEventId } },
      { query: `&lastEventId=${encodeURIComponent(lastEventId)}` },
      { query: `&Last-Event-Id=${encodeURIComponent(lastEventId)}` },
      { query: '&lastEventId=x', headers: { 'last-event-id': lastEventId } },
    ]) {
      const resumed = await open(options)
      expect((await resumed.take(1))[0]!.data).toMatchObject({ key: 'b' })
      resumed.close()
    }
  })

  it('ends with its token, without a `return`', async () => {
    const stream = await open({ claims: { exp: world.now() + 60 } })
    world.advance(61)
    await world.core.accessWatch.check()
    await stream.ended
    expect(stream.others.slice(1)).toEqual(['event: connected\ndata: {}'])
  })
})

const makeError = (httpStatus: number, code: string, error: string, message: unknown) => ({
  error: { message, code: expect.any(Number), data: { code, httpStatus, path: 'storage.watch', error } },
})

describe('a refused storage.watch has the status and the envelope of its error:', () => {
  const wrong = 'since is not a cursor of this collection.'
  it.each<[number, string, string, string, Options | (() => Options)]>([
    [401, 'UNAUTHORIZED', 'invalid_token', 'This token is not valid.', { token: 'x' }],
    [401, 'UNAUTHORIZED', 'invalid_token', 'This token is not valid.', { claims: { client_id: 'none' } }],
    [
      403,
      'FORBIDDEN',
      'missing_scope',
      'This token does not carry the svc.apps.storage:read scope.',
      { claims: { scope: 'svc.me.profile:read' } },
    ],
    [
      404,
      'NOT_FOUND',
      'not_found',
      'This member does not exist in this club.',
      () => ({ claims: { organisation: world.ids.academy } }),
    ],
    [400, 'BAD_REQUEST', 'invalid_request', 'The body is not valid JSON.', { input: '{' }],
    [400, 'BAD_REQUEST', 'invalid_request', wrong, { headers: { 'last-event-id': 'MA' } }],
    [400, 'BAD_REQUEST', 'invalid_request', wrong, { input: { collection: 'c', since: 'M'.repeat(501) } }],
    [
      422,
      'UNPROCESSABLE_CONTENT',
      'invalid_request',
      "Names use 1 to 64 letters, digits, '_' or '-'.",
      { input: { collection: 'a b' } },
    ],
  ])('%i %s %s %s', async (status, code, error, message, given) => {
    log.length = 0
    const reply = await ask(typeof given === 'function' ? given() : given)
    expect(reply).toMatchObject({ status, body: makeError(status, code, error, message) })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-store',
      ...(status === 401 && { 'www-authenticate': expect.stringMatching(/^Bearer /) }),
    })
    await expect.poll(() => log).toMatchObject([{ path: '/trpc/storage.watch', status }])
  })

  it('405 for POST', async () => {
    const reply = await ask({}, 'POST')
    expect(reply).toMatchObject({
      status: 405,
      body: makeError(405, 'METHOD_NOT_SUPPORTED', 'method_not_allowed', 'Use GET here.'),
    })
    expect(reply.headers.allow).toBe('GET')
  })

  it('400 in a batch', async () => {
    const reply = await ask({ query: '&batch=1' })
    const refused = makeError(400, 'BAD_REQUEST', 'invalid_request', 'Cannot batch subscription calls')
    expect(reply).toMatchObject({ status: 400, body: [refused] })
  })

  it('410 for a cursor that has expired', async () => {
    await put('a', 1)
    const stream = await open()
    const [{ id: last } = { id: '' }] = await stream.take(1)
    stream.close()
    await expireCursors(world.db, world.ids)
    const message = 'This cursor has expired. Begin again without since.'
    const expired = makeError(410, 'PRECONDITION_FAILED', 'cursor_expired', message)
    expect(await ask({ headers: { 'last-event-id': last } })).toMatchObject({ status: 410, body: expired })
  })

  it('429 with Retry-After where too many wait', async () => {
    const streams = await Promise.all([1, 2, 3, 4, 5].map(() => open()))
    const reply = await ask({})
    const message = 'Too many requests of this member, app or team already wait for changes.'
    expect(reply).toMatchObject({ status: 429, body: makeError(429, 'TOO_MANY_REQUESTS', 'rate_limited', message) })
    expect(reply.headers['retry-after']).toBe('1')
    for (const stream of streams) stream.close()
  })

  it('429 with Retry-After beyond the rate limit of its team', async () => {
    const { db, ids } = world
    const [team, client] = [id('team'), id('client')]
    await db.team.create({ data: { id: team, name: 'Team', level: 'hobby' } })
    await db.client.create({
      data: {
        id: client,
        name: 'Client',
        teamId: team,
        appId: ids.app,
        environment: 'production',
        scopes: ['svc.apps.storage:read'],
      },
    })
    const claims = { client_id: client }
    for (let i = 0; i < 60; i++) expect((await ask({ claims, input: '{' })).status).toBe(400)
    const reply = await ask({ claims })
    const refused = makeError(429, 'TOO_MANY_REQUESTS', 'rate_limited', expect.stringContaining('quota is exhausted'))
    expect(reply).toMatchObject({ status: 429, body: refused })
    expect(reply.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/),
      ratelimit: expect.any(String),
    })
  })
})

describe("tRPC's own client", () => {
  const world = started(() => startWorld({ db: failing() }))
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

  it('starts, gets changes, and ends when it unsubscribes', async () => {
    const { keys, states, unsubscribe, outcome } = await watch(world.token)
    await expect.poll(() => states).toEqual(['connecting', 'started', 'pending'])
    await put('a')
    await expect.poll(() => keys).toEqual(['a'])
    unsubscribe()
    expect(outcome()).toEqual({ ended: true, error: undefined })
  })

  /** Watches with a token of a minute, and takes `a`. Returns what ends the token, and holds that `b` arrives on another request. */
  const watchUntilTokenEnds = async () => {
    const { keys, requests, unsubscribe, outcome } = await watch(() => world.token({ exp: world.now() + 60 }))
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    await put('a')
    await expect.poll(() => keys).toEqual(['a'])
    return async () => {
      world.advance(61)
      await world.core.accessWatch.check()
      await put('b')
      await expect.poll(() => keys).toEqual(['a', 'b'])
      expect(requests).toEqual([undefined, expect.any(String)])
      expect(outcome()).toEqual({ ended: false, error: undefined })
      unsubscribe()
    }
  }

  it('goes on after its last event when its token has ended', async () => {
    const goesOn = await watchUntilTokenEnds()
    await goesOn()
  })

  it('goes on after the position of a ping when its token has ended, once changes up to its last event are not stored', async () => {
    const beat = fakeBeats()
    const goesOn = await watchUntilTokenEnds()
    const path = `/trpc/storage.watch?input=${encodeURIComponent(JSON.stringify({ collection }))}`
    const other = await openEvents(world.internalPort, path, { authorization: `Bearer ${await world.token()}` })
    await other.take(1)
    await world.call('PUT', `/storage/${id('other')}/k`, { body: { value: 1 } })
    // The other stream gets its ping after this one.
    const read = () => {
      beat()
      return other.others.join('\n')
    }
    await expect.poll(read).toMatch(/id: .+\nevent: ping\ndata: /)
    other.close()
    const { app: appId, club: clubId } = world.ids
    const { changes } = await world.db.storageUsage.findUniqueOrThrow({ where: { of: { appId, clubId } } })
    await world.db.storageUsage.update({ where: { of: { appId, clubId } }, data: { horizon: changes } })
    await goesOn()
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
