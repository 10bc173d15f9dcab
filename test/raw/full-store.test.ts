import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { Connection } from './socket.ts'

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
  return Object.fromEntries(page.items.map((item: { key: string; value: string }) => [item.key, item.value.length + 2]))
}
const unchanged = { half: QUOTA / 2, rest: QUOTA / 2 }

describe('a body that the store has no room for', () => {
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
