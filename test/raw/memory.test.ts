import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import type { Reply } from '../support/request.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { Connection } from './socket.ts'

const MIB = 1024 * 1024
const ENTRY = '/storage/large/k'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const makeBody = (bytes: number) => `{"value":"${'x'.repeat(bytes - 12)}"}`

/** The status of a reply; 'none' after half a second. */
const soon = (reply: Promise<{ status: number }>) =>
  Promise.race([reply.then(({ status }) => status), sleep(500, 'none' as const)])

/** Lets another team hold all memory that is free. */
function exhaust() {
  const bytes = world.memory.freeBytes
  expect(world.memory.take('another team', bytes)).toBe(true)
  return () => world.memory.give('another team', bytes)
}

describe('without free memory', () => {
  it('a body of more than 16 KiB waits unread, and goes on when memory is free', async () => {
    const free = exhaust()
    const put = world.call('PUT', ENTRY, { body: makeBody(5 * MIB) })
    expect(await soon(put)).toBe('none')
    free()
    expect((await put).status).toBe(200)
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('a chunked body of more than 16 KiB waits as well', async () => {
    const free = exhaust()
    const connection = await Connection.open(world.publicPort)
    const head = [
      'PUT /v1/storage/large/k HTTP/1.1',
      'Host: apps.test',
      `Authorization: Bearer ${await world.token()}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]
    const body = makeBody(MIB)
    await connection.send(`${head.join('\r\n')}\r\n\r\n${MIB.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    const answer = connection.answer()
    expect(await soon(answer)).toBe('none')
    free()
    expect((await answer).status).toBe(200)
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('a body of 16 KiB and a small read are answered', async () => {
    exhaust()
    expect((await world.call('PUT', ENTRY, { body: makeBody(16 * 1024) })).status).toBe(200)
    expect((await world.call('GET', ENTRY)).status).toBe(200)
  })

  it('a response of more than 64 KiB is 503 with Retry-After', async () => {
    expect((await world.call('PUT', ENTRY, { body: makeBody(100_000) })).status).toBe(200)
    exhaust()
    const { status, headers, body } = await world.call('GET', ENTRY)
    expect({ status, retryAfter: headers['retry-after'], code: body.error.code }).toEqual({
      status: 503,
      retryAfter: '2',
      code: 'unavailable',
    })
  })

  it('a waiting request whose client leaves takes nothing', async () => {
    const free = exhaust()
    const connection = await Connection.open(world.publicPort)
    const token = await world.token()
    await connection.send(
      `PUT /v1/storage/large/k HTTP/1.1\r\nHost: apps.test\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${5 * MIB}\r\n\r\n`,
    )
    await sleep(200)
    connection.reset()
    await connection.ended
    free()
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })
})

describe('a batch of ten reads of 10 MiB over tRPC', () => {
  const input = { collection: 'large', key: 'k' }
  const batch = (headers: Record<string, string> = {}): Promise<Reply> => {
    const paths = Array(10).fill('storage.get').join(',')
    const inputs = JSON.stringify(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i, input])))
    return world.internal('GET', `/trpc/${paths}?batch=1&input=${encodeURIComponent(inputs)}`, { headers })
  }

  it('is answered: a value or 503 for each call', async () => {
    const value = 'x'.repeat(10 * MIB - 2)
    expect((await world.call('PUT', ENTRY, { body: { value } })).status).toBe(200)
    const authorization = `Bearer ${await world.token()}`
    const { body } = await batch({ authorization })

    type Item = { result: { data: { value: string } } } | { error: { data: { httpStatus: number } } }
    const outcomes = (body as Item[]).map((item) =>
      'error' in item ? item.error.data.httpStatus : item.result.data.value,
    )
    const values = outcomes.filter((outcome) => outcome === value)
    expect(values.length).toBeGreaterThan(0)
    expect(outcomes.filter((outcome) => outcome === 503)).toHaveLength(10 - values.length)
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('is streamed: a value or 503 for each call', async () => {
    const value = 'x'.repeat(10 * MIB - 2)
    expect((await world.call('PUT', ENTRY, { body: { value } })).status).toBe(200)
    const authorization = `Bearer ${await world.token()}`
    const { text } = await batch({ authorization, 'trpc-accept': 'application/jsonl' })
    const values = text.split(`"value":"${value}"`).length - 1
    expect(values).toBeGreaterThan(0)
    expect(text.split('"httpStatus":503').length - 1).toBe(10 - values)
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })
})

describe('a full store', () => {
  const KIB = 1024
  const QUOTA = 1024 * KIB

  let world: World
  beforeEach(async () => {
    world = await startWorld({ storageQuotaBytes: QUOTA })
    expect((await put('half', body(QUOTA / 2))).status).toBe(200)
    expect((await put('rest', body(QUOTA / 2))).status).toBe(200)
  })
  afterEach(() => world.close())

  /** A body with a value of so many bytes. */
  const body = (bytes: number, around = '') => `${around}{"value":"${'x'.repeat(bytes - 2)}"}${around}`
  const put = (key: string, content: string, headers: Record<string, string> = {}) =>
    world.call('PUT', `/storage/c/${key}`, { body: content, headers })

  /** The answer to the head of a PUT whose body is not sent. */
  async function headOnly(key: string, bytes: number, ...more: string[]) {
    const connection = await Connection.open(world.publicPort)
    const head = [
      `PUT /v1/storage/c/${key} HTTP/1.1`,
      'Host: apps.test',
      `Authorization: Bearer ${await world.token()}`,
      `Content-Length: ${bytes}`,
      ...more,
    ]
    await connection.send(`${head.join('\r\n')}\r\n\r\n`)
    const answered = await connection.answer()
    connection.reset()
    return answered
  }
  const json = 'Content-Type: application/json'
  const sizes = async () => {
    const { body: page } = await world.call('GET', '/storage/c')
    return Object.fromEntries(
      page.items.map((item: { key: string; value: string }) => [item.key, item.value.length + 2]),
    )
  }
  const unchanged = { half: QUOTA / 2, rest: QUOTA / 2 }

  describe('a body that does not fit into the store', () => {
    it('is 413 before it is sent, with the usage', async () => {
      const answer = await headOnly('new', 200 * KIB, json)
      expect(answer).toMatchObject({
        status: 413,
        text: '{"detail":"App storage quota exceeded."}',
        headers: { 'x-storage-used': String(QUOTA), 'x-storage-limit': String(QUOTA) },
      })
      expect((await headOnly('half', QUOTA / 2 + 100 * KIB, json)).status).toBe(413)
      expect(await sizes()).toEqual(unchanged)
    })

    it('is 415 first, and is read when a precondition may fail', async () => {
      expect((await headOnly('new', 200 * KIB, 'Content-Type: text/plain')).status).toBe(415)
      expect((await put('new', body(200 * KIB), { 'if-match': '"x"' })).status).toBe(412)
      expect((await put('half', body(700 * KIB), { 'if-none-match': '*' })).status).toBe(412)
      expect((await headOnly('half', 700 * KIB, json, 'If-Match: *')).status).toBe(413)
      expect(await sizes()).toEqual(unchanged)
    })
  })

  describe('a body that may fit', () => {
    it('is read: it replaces as much as it brings', async () => {
      // With the field's name and braces 64 KiB, as much as there may be around a value.
      const spaces = ' '.repeat(32 * KIB - 5)
      expect((await put('half', body(QUOTA / 2, spaces))).status).toBe(200)
      expect((await put('half', body(QUOTA / 2 - 100 * KIB, spaces))).status).toBe(200)
      expect((await put('new', body(100 * KIB, spaces))).status).toBe(200)
      expect((await put('new', body(100 * KIB + 1, spaces))).status).toBe(413)
      expect(await sizes()).toEqual({ ...unchanged, half: QUOTA / 2 - 100 * KIB, new: 100 * KIB })
    })

    it('is read from a store whose quota was lowered, if it does not grow', async () => {
      world.core.storageQuotaBytes = QUOTA / 4
      expect((await put('half', body(QUOTA / 4))).status).toBe(200)
      expect(await sizes()).toEqual({ ...unchanged, half: QUOTA / 4 })
    })
  })
})
