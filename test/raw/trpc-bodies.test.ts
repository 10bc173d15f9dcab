import { createTRPCClient, httpBatchLink } from '@trpc/client'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AppRouter } from '../../routers/index.ts'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import { platformClaims } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'

const KIB = 1024
const MIB = 1024 * KIB
const QUOTA = 10 * MIB
/** A value of so many bytes. */
const textOf = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`
const put = (key: string, value: string) => `{"collection":"large","key":"${key}","value":${value}}`
const overQuota = { status: 413, message: 'App storage quota exceeded.' }
const over1MiB = { status: 413, message: 'The body is larger than 1 MiB.' }
const overBatch = { status: 413, message: 'The batch is too large. Send large values in separate requests.' }

const world = useWorld({ storageQuotaBytes: QUOTA })
beforeAll(async () => {
  await world.db.client.update({ where: { id: world.ids.client }, data: { environment: 'sandbox' } })
})

interface Item {
  result?: unknown
  error?: { message: string; data: { httpStatus: number } }
}

async function post(path: string, body: string, claims: Record<string, unknown> = {}) {
  const authorization = `Bearer ${await world.token(claims)}`
  const { body: items } = await world.internal('POST', `/trpc/${path}`, { headers: { authorization }, body })
  const outcomes = ([items].flat() as Item[]).map(({ error }) =>
    error ? { status: error.data.httpStatus, message: error.message } : { status: 200 },
  )
  await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  return outcomes
}

const sizes = async () => {
  const { app, club } = world.ids
  const rows = await world.db.$queryRaw<{ key: string; bytes: number }[]>`
    SELECT key, octet_length(value) AS bytes FROM "StorageEntry"
    WHERE "appId" = ${app} AND "clubId" = ${club} ORDER BY key`
  return Object.fromEntries(rows.map(({ key, bytes }) => [key, bytes]))
}
const erase = () => world.db.storageEntry.deleteMany({ where: { appId: world.ids.app } })

describe('storage.put over tRPC', () => {
  it('takes a value that fills the quota, alone and in a batch of one', async () => {
    await erase()
    expect(await post('storage.put', put('k', textOf(QUOTA)))).toEqual([{ status: 200 }])
    expect(await sizes()).toEqual({ k: QUOTA })
    expect(await post('storage.put?batch=1', `{"0":${put('k', textOf(QUOTA - 1))}}`)).toEqual([{ status: 200 }])
    expect(await sizes()).toEqual({ k: QUOTA - 1 })
  })

  it('returns 413 for a value or a body beyond the quota, and stores nothing', async () => {
    await erase()
    for (const bytes of [QUOTA + 1, QUOTA + 64 * KIB, QUOTA + 2 * MIB]) {
      expect(await post('storage.put', put('k', textOf(bytes)))).toEqual([overQuota])
      expect(await post('storage.put?batch=1', `{"0":${put('k', textOf(bytes))}}`)).toEqual([overQuota])
    }
    expect(await sizes()).toEqual({})
  })

  it('stores the values of a batch byte for byte', async () => {
    await erase()
    const texts = ['{ "a": 1e400, "a": -0 }', '"\\u0000\\ud800"', '[12345678901234567890]', textOf(3 * MIB), 'null']
    // The later key of two counts, as in JSON.parse.
    const inputs = texts.map((text, i) => `"${i}":{"value":0,"collection":"c","key":"k${i}","val\\u0075e": ${text} }`)
    const paths = texts.map(() => 'storage.put').join(',')
    const outcomes = await post(`${paths}?batch=1`, `{ "0" : [1], ${inputs.reverse().join(' , ')} }`)
    expect(outcomes).toEqual(texts.map(() => ({ status: 200 })))
    for (const [i, text] of texts.entries()) {
      const { text: entry } = await world.call('GET', `/storage/c/k${i}`)
      expect(entry.startsWith(`{"key":"k${i}","value":${text},"updatedAt":`)).toBe(true)
    }
  })

  it('shares 16 MiB among the calls of a batch', async () => {
    await erase()
    const both = (bytes: number) => `{"0":${put('a', textOf(bytes))},"1":${put('b', textOf(bytes))}}`
    const paths = 'storage.put,storage.put?batch=1'
    expect(await post(paths, both(5 * MIB))).toEqual([{ status: 200 }, { status: 200 }])
    expect(await post(paths, both(8 * MIB))).toEqual([overBatch, overBatch])
    expect(await sizes()).toEqual({ a: 5 * MIB, b: 5 * MIB })
  })

  it('returns 413 for more than 1 MiB beside the values', async () => {
    await erase()
    const beside = `{"collection":"large","key":"k","more":${textOf(MIB)},"value":1}`
    expect(await post('storage.put', beside)).toEqual([over1MiB])
    expect(await post('storage.put?batch=1', `{"0":${beside}}`)).toEqual([over1MiB])
    expect(await post('storage.put?batch=1', `{"0":${put('k', '1')},"x":${textOf(MIB)}}`)).toEqual([over1MiB])
    expect(await sizes()).toEqual({})
  })

  it('reads no body of a caller whom it refuses', async () => {
    const body = put('k', textOf(QUOTA + 2 * MIB))
    const message = 'This token does not carry the svc.apps.storage:write scope.'
    expect(await post('storage.put', body, { scope: '' })).toEqual([{ status: 403, message }])
    expect(await post('storage.put?batch=1', `{"0":${body}}`, { scope: '' })).toEqual([{ status: 403, message }])
  })
})

describe('another mutation over tRPC', () => {
  const event = (bytes: number) => `{"app":"${world.ids.app}","type":"t","data":${textOf(bytes)}}`

  it('takes a body of up to 1 MiB and returns 413 beyond', async () => {
    const claims = platformClaims(world)
    const tooLarge = { status: 400, message: 'The event is larger than 256 KiB.' }
    expect(await post('events.publish', event(MIB - 200), claims)).toEqual([tooLarge])
    expect(await post('events.publish', event(MIB), claims)).toEqual([over1MiB])
    const batch = `{"0":${event(MIB / 2)},"1":${event(MIB / 2)}}`
    expect(await post('events.publish,events.publish?batch=1', batch, claims)).toEqual([over1MiB, over1MiB])
  })
})

describe('a batch', () => {
  it('of 50 calls is answered, each counted; 51 are refused', async () => {
    const { db, ids } = world
    await db.client.update({ where: { id: ids.client }, data: { environment: 'production' } })
    const headers = { authorization: `Bearer ${await world.token()}` }
    const client = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `http://127.0.0.1:${world.internalPort}/trpc`, headers })],
    })
    world.advance(5)
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.root.query()))
    expect(answers).toEqual(Array(50).fill({ api: 'apps', organisation: ids.club }))
    const { headers: counted } = await world.internal('GET', '/trpc/root', { headers })
    expect(counted.ratelimit).toContain(`r=${10_000 - 51};`)
    const tooMany = await world.internal('GET', `/trpc/${Array(51).fill('root').join(',')}?batch=1`, { headers })
    expect(tooMany).toMatchObject({ status: 400, body: { error: { message: 'Batch call exceeds maximum size' } } })
  })
})
