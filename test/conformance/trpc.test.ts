import type { TRPCClientError } from '@trpc/client'
import { createTRPCClient, httpLink } from '@trpc/client'
import { describe, expect, it } from 'vitest'
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
  it('sends numbers as numbers, even after REST has read them from a query', async () => {
    await world.call('GET', '/storage/c?limit=5&offset=0')
    const reply = await client()
      .storage.list.query({ collection: 'c', limit: '5' as never })
      .catch(failure)
    expect(reply).toMatchObject({ status: 422, message: 'limit is 1 to 200.' })
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
