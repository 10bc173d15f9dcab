import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Client, ClientOptions } from '../../clients/sdk/client.ts'
import {
  ApiError,
  createClient,
  EntryChanged,
  QuotaExceeded,
  RateLimited,
  ScopeMissing,
  SignInNeeded,
} from '../../clients/sdk/client.ts'
import type { pause } from '../../clients/sdk/timers.ts'
import { deferred } from '../support/deferred.ts'
import { listenLocally } from '../support/local-server.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { useWorld } from '../support/started.ts'
import { createQuiz } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const localUrls = localUrlsAt('http://127.0.0.1')
const world = useWorld({ localUrls, storageQuotaBytes: 4000 })
beforeAll(async () => {
  await createQuiz(world.db, world.ids)
})

/** A client of the service whose requests are noted. */
function noting(
  options: Partial<ClientOptions> & Pick<ClientOptions, 'tokens'> & { wait?: typeof pause },
  port = world.publicPort,
) {
  const requests: { line: string; headers: Record<string, string> }[] = []
  const api = createClient({
    apps: `http://127.0.0.1:${port}/apps/v1`,
    lms: `http://127.0.0.1:${port}/lms/v1/`,
    notify: new URL(`http://127.0.0.1:${port}/notify/v1`),
    ...options,
    fetch(url, init) {
      const { pathname, search } = new URL(String(url))
      requests.push({
        line: `${init!.method} ${pathname}${search}`,
        headers: init!.headers as Record<string, string>,
      })
      return (options.fetch ?? fetch)(url, init)
    },
  })
  return { api, requests }
}
const client = async (claims: Record<string, unknown> = {}) => noting({ tokens: await world.token(claims) }).api
const refusal = (error: unknown) => {
  if (error instanceof ApiError) return error
  throw error
}
const numbers = (count: number) => [...Array(count).keys()]
const expired = () => world.token({ exp: world.now() - 3600 })

it('storage.batch() applies all operations and has their results by index, or none and names the one that fails', async () => {
  const { storage } = noting({
    tokens: await world.token(),
    sync: `http://127.0.0.1:${world.publicPort}/sync/v1`,
  }).api
  const at = (key: string) => ({ collection: 'batched', key })
  const [put, got, missing, deleted] = await storage.batch([
    { op: 'put', ...at('a'), value: { n: 1 } },
    { op: 'get', ...at('a') },
    { op: 'get', ...at('b') },
    { op: 'delete', ...at('b') },
  ])
  expect(got).toMatchObject({ key: 'a', value: { n: 1 }, etag: (put as { etag: string }).etag })
  expect([missing, deleted]).toEqual([{ key: 'b', missing: true }, { deleted: false }])

  const refused = storage.batch([
    { op: 'put', ...at('c'), value: 1 },
    { op: 'put', ...at('a'), value: 2, ifMatch: '"other"' },
  ])
  await expect(refused).rejects.toThrow(EntryChanged)
  await expect(refused).rejects.toThrow('Operation 1: This entry has changed.')
  const collection = storage('batched')
  expect([(await collection.get('a'))?.value, await collection.get('c')]).toEqual([{ n: 1 }, undefined])
})

describe('calls', () => {
  it('answer with what the three APIs send', async () => {
    const { club, member, academy, provider, app } = world.ids
    const api = await client()
    expect(await api.root()).toEqual({ api: 'apps', organisation: club })
    // Without `this`.
    const { profile, membercard, ...lists } = api.me
    expect(await profile()).toMatchObject({ id: member, firstName: 'Mia', birthday: null })
    for (const list of Object.values(lists)) expect(await list()).toEqual({ items: [] })
    expect(await membercard()).toEqual({ card: null })

    const learner = noting({ tokens: await world.token({ organisation: academy }) })
    const quiz = `quiz-${academy}`
    expect(await learner.api.quizzes.submit(quiz, { q1: 'Yes' })).toMatchObject({ score: 100, passed: true })
    expect(learner.requests[0]!.headers['idempotency-key']).toMatch(/^[\da-f-]{36}$/)

    const { webhook } = await client({ organisation: provider })
    expect(await webhook.put(app, { url: 'https://a.example/', secret: 's' })).toEqual({
      url: 'https://a.example/',
      hasSecret: true,
    })
    expect(await webhook.get(app)).toEqual({ url: 'https://a.example/', hasSecret: true })
    expect(await webhook.delete(app)).toBeUndefined()
    expect(await webhook.get(app)).toEqual({ url: null, hasSecret: false })
  })

  it('need the address of their API, and end with their signal', async () => {
    const api = createClient({ apps: `http://127.0.0.1:${world.publicPort}/apps/v1`, tokens: 'token' })
    await expect(api.webhook.get('app')).rejects.toThrow('createClient needs the address of notify for this call.')
    const ended = AbortSignal.abort(new Error('Enough.'))
    await expect(api.me.profile({ signal: ended })).rejects.toThrow('Enough.')
  })
})

describe('the signal of a call', () => {
  it.each(['the first token', 'a renewal'])('ends it while it waits for %s', async (what) => {
    const asked = deferred()
    const old = await expired()
    const { api } = noting({
      async tokens(refused) {
        if (what === 'a renewal' && !refused) return old
        asked.resolve()
        return new Promise<string>(() => {})
      },
    })
    const ending = new AbortController()
    const call = api.root({ signal: ending.signal })
    await asked.promise
    ending.abort(new Error('Enough.'))
    await expect(call).rejects.toThrow('Enough.')
  })

  it('leaves nothing on it when it has waited for a token', async () => {
    const { api } = noting({ tokens: async () => 'token', fetch: async () => Response.json({}) })
    const { signal } = new AbortController()
    await api.root({ signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('a name that the storage does not take', () => {
  it.each(['..', '.', '', 'a/b', 'a b', 'ä', 'x'.repeat(65)])(
    'is refused unsent, as the service does: %j',
    async (name) => {
      const { api, requests } = noting({ tokens: await world.token() })
      const calls = [
        ...[api.storage(name).list(), api.storage(name).get('k'), api.storage(name).put('k', 1)],
        ...[api.storage('c').get(name), api.storage('c').put(name, 1), api.storage('c').update(name, () => 1)],
        ...[api.storage('c').delete(name), api.storage(name)[Symbol.asyncIterator]().next()],
      ]
      for (const found of await Promise.all(calls.map((call) => call.catch(refusal)))) {
        const message = "Names use 1 to 64 letters, digits, '_' or '-'."
        expect(found).toMatchObject({ name: 'ApiError', status: 422, id: 'nameInvalid', message })
      }
      expect(requests).toEqual([])
    },
  )
})

describe('refusals', () => {
  it('have their class, the sentence of the service, its id and its page, and the id of the request', async () => {
    const { academy, app } = world.ids
    const scope = 'svc.me.profile:read'
    const found = await (await client({ scope })).me.groups().catch(refusal)
    expect(found).toBeInstanceOf(ScopeMissing)
    expect(found).toMatchObject({ status: 403, scope: 'svc.me.groups:read', requestId: expect.stringMatching(/./) })
    const help = `http://127.0.0.1:${world.publicPort}/apps/v1/docs/errors#scopeMissing`
    expect(found).toMatchObject({ id: 'scopeMissing', help })
    expect(await (await client({ sub: 'gone' })).me.profile().catch(refusal)).toMatchObject({
      name: 'ApiError',
      status: 404,
      message: 'This member does not exist in this club.',
      code: undefined,
    })
    const quiz = `quiz-${academy}`
    await world.db.quiz.update({ where: { id: quiz }, data: { state: 'closed' } })
    const closed = (await client({ organisation: academy })).quizzes.submit(quiz, {})
    expect(await closed.catch(refusal)).toMatchObject({ status: 409, code: 'conflict', reason: 'quiz_closed' })
    await world.db.quiz.update({ where: { id: quiz }, data: { state: 'released' } })
    const webhook = (await client({ organisation: world.ids.provider })).webhook
    expect(await webhook.put(app, { url: 'ftp://x' }).catch(refusal)).toMatchObject({ code: 'invalid_request' })
  })

  it.each([502, 503, 504])('of a proxy keep their status, and are repeated: %s', async (status) => {
    const answers = async () => new Response('<html>', { status })
    const waits: number[] = []
    const { api, requests } = noting({ tokens: 'token', fetch: answers, wait: async (ms) => void waits.push(ms) })
    expect(await api.me.profile().catch(refusal)).toMatchObject({
      status,
      message: `The answer is ${status}, and not one of the service.`,
      id: undefined,
      help: undefined,
    })
    expect([requests.length, waits]).toEqual([3, [200, 800]])
    expect(await api.storage('c').delete('k').catch(refusal)).toMatchObject({ status })
    expect(requests).toHaveLength(4)
  })

  it('are also answers that are no JSON', async () => {
    const { api } = noting({ tokens: 'token', fetch: async () => new Response('<html>') })
    expect(await api.me.profile().catch(refusal)).toMatchObject({
      status: 200,
      message: expect.stringMatching('not one of the service'),
    })
  })
})

describe('a token that is refused', () => {
  it('is renewed once for all calls that had it, also when one is refused after the renewal', async () => {
    const asked: (string | undefined)[] = []
    const old = await expired()
    const renewed = deferred()
    const { api } = noting({
      tokens(refused) {
        asked.push(refused)
        return refused ? world.token() : old
      },
      async fetch(url, init) {
        const answer = await fetch(url, init)
        const isLast = String(url).endsWith('/groups') && answer.status === 401
        if (isLast) await renewed.promise
        return answer
      },
    })
    const groups = api.me.groups()
    await Promise.all([api.root(), api.me.profile()])
    renewed.resolve()
    expect(await groups).toEqual({ items: [] })
    expect(asked.filter(Boolean)).toEqual([old])
  })

  it('rejects with SignInNeeded when it is a string, or when the next one is refused too', async () => {
    const fixed = noting({ tokens: await expired() })
    expect(await fixed.api.root().catch(refusal)).toBeInstanceOf(SignInNeeded)
    const renewing = noting({ tokens: expired })
    expect(await renewing.api.root().catch(refusal)).toMatchObject({ message: 'This token has expired.' })
    expect([fixed.requests.length, renewing.requests.length]).toEqual([1, 2])
  })

  it('is renewed once for each refused token of a call', async () => {
    const asked: (string | undefined)[] = []
    const statuses = [401, 429, 401, 429, 401]
    const answers = async () => {
      const status = statuses.shift() ?? 200
      return new Response('{}', { status, headers: { 'retry-after': '3' } })
    }
    const tokens = (refused?: string) => {
      asked.push(refused)
      return `token ${asked.length}`
    }
    const { api } = noting({ tokens, fetch: answers, maxWaitSeconds: 60, wait: async () => {} })
    expect(await api.root()).toEqual({})
    expect(asked).toEqual([undefined, 'token 1', 'token 2', 'token 3'])
  })

  it('is asked for again after the renewal returned the refused one', async () => {
    const [old, fresh] = [await expired(), await world.token()]
    let asked = 0
    const { api } = noting({ tokens: (refused) => (refused && asked++ > 0 ? fresh : old) })
    expect(await api.root().catch(refusal)).toBeInstanceOf(SignInNeeded)
    expect([await api.root(), asked]).toMatchObject([{ api: 'apps' }, 2])
  })

  it('is asked for again after it could not be got', async () => {
    const [old, fresh] = [await expired(), await world.token()]
    let asked = 0
    const { api } = noting({
      tokens(refused) {
        if (refused && asked++ === 0) throw new Error('Not now.')
        return refused ? fresh : old
      },
    })
    await expect(api.root()).rejects.toThrow('Not now.')
    expect(await api.root()).toMatchObject({ api: 'apps' })
  })
})

describe('waiting', () => {
  it('is for as long as Retry-After says, within the bound; else the call is rejected with RateLimited', async () => {
    const limited = await startWorld({ localUrls })
    onTestFinished(() => limited.close())
    await limited.db.team.update({ where: { id: limited.ids.team }, data: { level: 'hobby' } })
    const tokens = await limited.token()
    const hasty = noting({ tokens, maxWaitSeconds: 0 }, limited.publicPort).api
    const answers = await Promise.all(numbers(61).map(() => hasty.root().catch(refusal)))
    const refused = answers.filter((answer) => answer instanceof RateLimited)
    expect(refused).toEqual([expect.objectContaining({ status: 429, code: 'rate_limited', retryAfter: 60 })])

    const waits: number[] = []
    const wait = async (ms: number) => {
      waits.push(ms)
      limited.advance(ms / 1000)
    }
    const { api, requests } = noting({ tokens, wait }, limited.publicPort)
    const put = () => api.storage('waited').put('k', 1)
    limited.advance(54)
    expect(await put().catch(refusal)).toMatchObject({ status: 429, retryAfter: 6 })
    limited.advance(1)
    expect(await put()).toMatchObject({ value: 1 })
    expect(waits).toEqual([5_000])
    expect(requests.map(({ line }) => line)).toEqual(Array(3).fill('PUT /apps/v1/storage/waited/k'))
  })

  it('repeats only what may arrive twice after a 503 or a lost connection', async () => {
    const proxy = createServer((request, response) => {
      if (request.url!.startsWith('/apps')) response.writeHead(503, { 'retry-after': '0' }).end()
      else request.socket.destroy()
    })
    const port = await listenLocally(proxy)
    const calls: [number, (api: Client) => Promise<unknown>][] = [
      [2, (api) => api.root()],
      [2, (api) => api.storage('c').put('k', 1)],
      [2, (api) => api.storage('c').put('k', 1, { ifNoneMatch: '*' })],
      [2, (api) => api.storage('c').put('k', 1, { ifMatch: '"e"' })],
      [2, (api) => api.storage('c').delete('k', { ifMatch: '"e"' })],
      [1, (api) => api.storage('c').delete('k')],
    ]
    const waits: number[] = []
    const wait = async (ms: number) => void waits.push(ms)
    const check = async ([times, call]: (typeof calls)[number]) => {
      const { api, requests } = noting({ tokens: 'token', maxWaitSeconds: 1, wait }, port)
      await expect(call(api)).rejects.toMatchObject({ status: 503, retryAfter: 0 })
      expect(requests.map(({ line }) => line)).toEqual(Array(times).fill(requests[0]!.line))
    }
    await Promise.all(calls.map(check))
    expect(waits).toEqual(Array(5).fill(1_000))

    waits.length = 0
    const { api, requests } = noting({ tokens: 'token', wait }, port)
    await expect(api.quizzes.submit('quiz', {})).rejects.toThrow(TypeError)
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect([requests.length, new Set(keys).size]).toEqual([3, 1])
    expect(waits).toEqual([200, 800])
  })
})

describe('storage', () => {
  it('gets, puts and deletes entries under conditions', async () => {
    const scores = (await client()).storage<{ points: number }>('scores')
    expect(await scores.get('alice')).toBeUndefined()
    expect(await scores.delete('alice')).toBe(false)
    const first = await scores.put('alice', { points: 1 }, { ifNoneMatch: '*' })
    expect(first).toEqual({
      key: 'alice',
      value: { points: 1 },
      updatedAt: expect.any(Number),
      etag: expect.stringMatching(/^".+"$/),
    })
    expect(await scores.get('alice')).toEqual(first)
    expect(await scores.put('alice', { points: 0 }, { ifNoneMatch: '*' }).catch(refusal)).toBeInstanceOf(EntryChanged)
    const second = await scores.put('alice', { points: 2 }, { ifMatch: first.etag })
    expect(await scores.delete('alice', { ifMatch: first.etag }).catch(refusal)).toBeInstanceOf(EntryChanged)
    expect(await scores.get('alice')).toEqual(second)
    expect(await scores.delete('alice', { ifMatch: second.etag })).toBe(true)
    expect(await scores.get('alice')).toBeUndefined()
  })

  it('keeps the entries of a member apart, and says when the store is full', async () => {
    const api = await client()
    await api.storage<string>('notes', { scope: 'user' }).put('note', 'mine')
    expect(await api.storage('notes').get('note')).toBeUndefined()
    expect(await api.storage('notes', { scope: 'user' }).list()).toMatchObject({ total: 1, items: [{ value: 'mine' }] })
    const full = await api.storage('notes').put('large', 'x'.repeat(4000)).catch(refusal)
    expect(full).toBeInstanceOf(QuotaExceeded)
    expect(await api.storage('notes').get('large')).toBeUndefined()
  })

  it('rejects a get that is refused for another reason than an absent key', async () => {
    const lost = (await client({ sub: 'gone' })).storage('scores')
    expect(await lost.get('alice').catch(refusal)).toMatchObject({ status: 404 })
    expect(await lost.delete('alice').catch(refusal)).toMatchObject({ status: 404 })
  })

  it('update loses no change of 20 writers at once', async () => {
    const counter = (await client()).storage<number>('counter')
    let runs = 0
    const add = () =>
      counter.update('total', (was) => {
        runs++
        return (was ?? 0) + 1
      })
    await Promise.all(numbers(20).map(add))
    expect((await counter.get('total'))?.value).toBe(20)
    expect(runs).toBeGreaterThan(20)
  })

  it('add and merge lose no change of 20 writers in 20 requests, and return the entry', async () => {
    const { api } = noting({ tokens: await world.token(), sync: `http://127.0.0.1:${world.publicPort}/sync/v1` })
    const games = api.storage<{ points: number; by?: Record<string, number> }>('games')
    await games.put('final', { points: 0 })
    await Promise.all(
      numbers(20).map((n) => (n % 2 ? games.add('final', '/points', 1) : games.merge('final', { by: { [n]: n } }))),
    )
    const { value, etag } = (await games.get('final'))!
    expect(value.points).toBe(10)
    expect(Object.keys(value.by!)).toHaveLength(10)
    const added = await games.add('final', '/points', -0.5, { ifMatch: etag })
    expect(added).toMatchObject({ key: 'final', value: { points: 9.5 } })
    expect(await games.merge('final', { by: null }, { ifMatch: etag }).catch(refusal)).toBeInstanceOf(EntryChanged)
    expect((await games.merge('final', { by: null }, { ifMatch: added.etag })).value).toEqual({ points: 9.5 })
    expect(await games.add('none', '', 1).catch(refusal)).toMatchObject({ status: 400, id: 'notNumber' })
  })

  it('update gives up after its attempts, and passes on what its function throws', async () => {
    const other = (await client()).storage<number>('contested')
    const mine = (await client()).storage<number>('contested')
    const late = mine.update('k', async (was = 0) => (await other.put('k', was + 10)).value + 1, { attempts: 2 })
    expect(await late.catch(refusal)).toBeInstanceOf(EntryChanged)
    expect((await other.get('k'))?.value).toBe(20)
    const broken = mine.update('k', () => {
      throw new Error('Mine.')
    })
    await expect(broken).rejects.toThrow('Mine.')
  })

  it('is iterated in pages, by key', async () => {
    const { api, requests } = noting({ tokens: await world.token() })
    const { app, club } = { app: world.ids.app, club: world.ids.club }
    await world.db
      .$executeRaw`INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, "updatedAt")
      SELECT ${app}, ${club}, '', 'many', 'k' || lpad(n::text, 3, '0'), '0', now() FROM generate_series(1, 201) n`
    const keys: string[] = []
    for await (const { key } of api.storage('many')) keys.push(key)
    expect(keys).toEqual(numbers(201).map((n) => `k${String(n + 1).padStart(3, '0')}`))
    expect(requests).toHaveLength(2)
    for await (const _ of api.storage('many')) break
    expect(requests).toHaveLength(3)
  })
})
