import type { TRPCClientError } from '@trpc/client'
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink } from '@trpc/client'
import { describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { useWorld } from '../support/started.ts'
import { startWorld } from '../support/world.ts'

const world = useWorld()

const options = (claims: Record<string, unknown> = {}) => ({
  url: `http://127.0.0.1:${world.internalPort}/trpc`,
  headers: async () => ({ authorization: `Bearer ${await world.token(claims)}` }),
})
const client = (claims?: Record<string, unknown>) => createTRPCClient<AppRouter>({ links: [httpLink(options(claims))] })

const failure = (error: unknown) => {
  const { data, message } = error as TRPCClientError<AppRouter>
  return { message, status: data?.httpStatus, error: data?.error, reason: data?.reason }
}

describe('a first-party app over tRPC', () => {
  it('calls the procedures of the REST endpoints', async () => {
    const { ids } = world
    const trpc = client()
    expect(await trpc.root.query()).toEqual({ api: 'apps', organisation: ids.club })
    expect(await trpc.me.profile.query()).toMatchObject({ id: ids.member })
    expect(await trpc.me.events.query()).toEqual({ items: [] })
    const at = { collection: 'trpc-entry', key: 'k' }
    const entry = await trpc.storage.put.mutate({ ...at, value: { a: [1, null] } })
    expect(entry).toEqual({
      key: 'k',
      value: { a: [1, null] },
      updatedAt: expect.any(Number),
      etag: expect.stringMatching(/^"[0-9a-f-]{36}"$/),
    })
    expect(await trpc.storage.get.query(at)).toEqual(entry)
    expect(await trpc.storage.list.query({ collection: at.collection })).toEqual({ items: [entry], total: 1 })
    await trpc.storage.delete.mutate(at)
    const notify = client({ organisation: ids.provider })
    expect(await notify.webhook.put.mutate({ id: ids.app, url: 'https://example.org' })).toEqual({
      url: 'https://example.org',
      hasSecret: false,
    })
  })

  it('passes the same checks', async () => {
    const { ids } = world
    const get = (claims: Record<string, unknown>) => client(claims).me.profile.query().catch(failure)
    expect(await get({ exp: world.now() })).toMatchObject({
      status: 401,
      error: 'invalid_token',
      message: 'This token has expired.',
    })
    expect(await get({ scope: '' })).toMatchObject({ status: 403, error: 'missing_scope' })
    expect(await get({ sub: 'nobody' })).toMatchObject({
      status: 404,
      message: 'This member does not exist in this club.',
    })
    expect(await get({ client_id: 'nobody' })).toMatchObject({ status: 401, message: 'This token is not valid.' })
    const list = (input: object) =>
      client()
        .storage.list.query(input as never)
        .catch(failure)
    expect(await list({ collection: 'a.b' })).toMatchObject({ status: 422, message: /^Names use/ })
    expect(await list({ collection: 'c', limit: 0 })).toMatchObject({ status: 422, message: 'limit is 1 to 200.' })
    const webhook = await client({ organisation: ids.provider }).webhook.get.query({ id: 'a.b' }).catch(failure)
    expect(webhook).toMatchObject({ status: 422, error: 'invalid_request' })
  })

  it('sends numbers as numbers, even after REST has read them from a query', async () => {
    await world.call('GET', '/storage/c?limit=5&offset=0')
    const reply = await client()
      .storage.list.query({ collection: 'c', limit: '5' as never })
      .catch(failure)
    expect(reply).toMatchObject({ status: 422, message: 'limit is 1 to 200.' })
  })

  it('sends up to 50 calls in a batch and gets 400 for 51', async () => {
    const batched = createTRPCClient<AppRouter>({ links: [httpBatchLink(options())] })
    const replies = await Promise.all(Array.from({ length: 50 }, () => batched.me.profile.query()))
    expect(replies).toHaveLength(50)
    const more = Array.from({ length: 51 }, () => batched.me.profile.query().catch(failure))
    expect(await Promise.all(more)).toEqual(Array(51).fill(expect.objectContaining({ status: 400 })))
  })

  it('may stream the answers of a batch', async () => {
    const streamed = createTRPCClient<AppRouter>({ links: [httpBatchStreamLink(options())] })
    await world.call('PUT', '/storage/stream/k', { body: { value: [1] } })
    const [entry, groups] = await Promise.all([
      streamed.storage.get.query({ collection: 'stream', key: 'k' }),
      streamed.me.groups.query(),
    ])
    expect([entry.value, groups]).toEqual([[1], { items: [] }])
  })

  it('receives a value as JSON.parse returns it', async () => {
    const text = '{"b":1e400,"a":-0,"__proto__":[12345678901234567890],"\\u0000":"\\ud800"}'
    await world.call('PUT', '/storage/trpc/odd', { body: `{"value":${text}}` })
    const { value } = await client().storage.get.query({ collection: 'trpc', key: 'odd' })
    expect(value).toEqual(JSON.parse(text))
    expect(Object.is((value as { a: number }).a, -0)).toBe(true)
  })

  it('gets 400 for a value that is missing or nested too deeply', async () => {
    const at = { collection: 'trpc-refused', key: 'k' }
    const deep = JSON.parse(`${'['.repeat(257)}${']'.repeat(257)}`)
    const put = (value: unknown) =>
      client()
        .storage.put.mutate({ ...at, value: value as Json })
        .catch(failure)
    expect(await put(undefined)).toMatchObject({ status: 400, message: 'value is missing.' })
    expect(await put(deep)).toMatchObject({ status: 400, message: 'value is nested too deeply.' })
    expect((await world.call('GET', '/storage/trpc-refused')).body.total).toBe(0)
    expect(await put(deep[0])).toMatchObject({ key: 'k' })
  })
})

describe('an app in process', () => {
  it('calls procedures with a principal, behind the same checks', async () => {
    const call = callAs(world.core, world.principal())
    const at = { collection: 'local', key: 'k' }
    expect(await call.storage.put({ ...at, value: { a: 1 } })).toMatchObject({ key: 'k', value: { a: 1 } })
    expect(await call.storage.get(at)).toMatchObject({ value: { a: 1 } })
    expect(await call.me.membercard()).toEqual({ card: null })
    const scopeless = callAs(world.core, world.principal({ scopes: new Set() }))
    await expect(scopeless.me.profile()).rejects.toMatchObject({ status: 403 })
    await expect(scopeless.root()).resolves.toMatchObject({ api: 'apps' })
    await expect(call.storage.put({ ...at, value: 1n as unknown as Json })).rejects.toMatchObject({ status: 400 })
    const circle: unknown[] = []
    circle.push(circle)
    await expect(call.storage.put({ ...at, value: circle as Json[] })).rejects.toMatchObject({
      message: 'value contains something that JSON cannot represent.',
    })
    expect(await call.storage.get(at)).toMatchObject({ value: { a: 1 } })
    const value = { note: undefined, at: new Date(0) } as unknown as Json
    const overHttp = await client().storage.put.mutate({ ...at, value })
    expect((await call.storage.put({ ...at, value })).value).toEqual(overHttp.value)
    expect((await world.call('GET', '/storage/local/k')).text).toContain('"value":{"at":"1970-01-01T00:00:00.000Z"},')
  })

  it('reaches every procedure of the endpoint table', () => {
    const call = callAs(world.core, world.principal())
    for (const { name } of routes) {
      const procedure = name.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], call)
      expect(procedure).toBeTypeOf('function')
    }
  })
})

describe('the internal port', () => {
  it('serves /healthz and /readyz without a token', async () => {
    expect(await world.internal('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await world.internal('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
    expect(await world.internal('POST', '/readyz', { body: {} })).toMatchObject({ status: 405 })
  })

  it('logs probes that fail, and not those that succeed', async () => {
    const lines: string[] = []
    const own = await startWorld({ onLog: (line) => lines.push(line) })
    for (const path of ['/healthz', '/readyz']) expect((await own.internal('GET', path)).status).toBe(200)
    expect((await own.internal('POST', '/readyz', { body: {} })).status).toBe(405)
    await own.close()
    expect(lines.map((line) => JSON.parse(line).path)).toEqual(['/readyz'])
  })

  it('serves no REST, and the public port no tRPC', async () => {
    expect(await world.internal('GET', '/v1/me/profile', { headers: { host: 'apps.test' } })).toMatchObject({
      status: 404,
    })
    const reply = await world.call('GET', '', { host: 'apps.test' })
    expect(reply.status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${world.publicPort}/trpc/root`)).status).toBe(404)
  })
})
