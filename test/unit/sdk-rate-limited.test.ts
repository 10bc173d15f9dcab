import { expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../clients/sdk/client.ts'

/** As a connection that is dead, of which nobody says so. */
const silent = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

/** Refuses the first `count` requests for half a minute. */
function limited(count: number) {
  let asked = 0
  const { storage } = createClient({
    sync: 'https://sync.example/v1',
    tokens: 'token',
    async fetch(address) {
      if (asked++ < count) return new Response('{}', { status: 429, headers: { 'retry-after': '30' } })
      if (String(address).includes('wait=') && asked > count + 1) return new Promise(() => {})
      return Response.json({ items: [{ key: 'k', value: 1, updatedAt: 1 }], cursor: 'x', more: false })
    },
  })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  return { collection: storage('c'), asked: () => asked }
}

it('a live collection waits as long as a 429 says, each time', async () => {
  const { collection, asked } = limited(2)
  const live = collection.live()
  onTestFinished(live.subscribe(() => {}))
  for (const before of [1, 2]) {
    await vi.advanceTimersByTimeAsync(29_000)
    expect([live.state, asked()]).toEqual(['offline', before])
    expect(live.error).toMatchObject({ status: 429, retryAfter: 30 })
    await vi.advanceTimersByTimeAsync(2_000)
  }
  expect([live.state, live.entries.size]).toEqual(['current', 1])
})

it('an iteration of changes waits as long as a 429 says, each time, and is ended by its signal', async () => {
  const { collection, asked } = limited(2)
  const found = collection.changes().next()
  await vi.advanceTimersByTimeAsync(59_000)
  expect(asked()).toBe(2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await found).value).toMatchObject({ key: 'k' })

  const ending = new AbortController()
  const next = limited(1).collection.changes({ signal: ending.signal }).next()
  await vi.advanceTimersByTimeAsync(1_000)
  ending.abort(new Error('enough'))
  await expect(next).rejects.toThrow('enough')
})

it('an iteration of changes takes a body that comes for minutes', async () => {
  let asked = 0
  const { storage } = createClient({
    sync: 'https://sync.example/v1',
    tokens: 'token',
    async fetch(_, init) {
      asked++
      const text = JSON.stringify({ items: [{ key: 'k', value: 1, updatedAt: 1 }], cursor: 'x', more: false })
      const body = new ReadableStream({
        start(controller) {
          init!.signal!.addEventListener('abort', () => controller.error(init!.signal!.reason))
          const send = () => {
            controller.enqueue(new TextEncoder().encode(text))
            controller.close()
          }
          setTimeout(send, 300_000)
        },
      })
      return new Response(body)
    },
  })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const next = storage('c').changes().next()
  await vi.advanceTimersByTimeAsync(300_000)
  expect((await next).value).toMatchObject({ key: 'k' })
  expect([asked, vi.getTimerCount()]).toEqual([1, 0])
})

it('an iteration of changes asks again after 60 s of silence, and is rejected after the third', async () => {
  let asked = 0
  const silentAt = [2, 4, 5, 6]
  const { storage } = createClient({
    sync: 'https://sync.example/v1',
    tokens: 'token',
    async fetch(_, init) {
      if (silentAt.includes(++asked)) return silent(init!.signal!)
      return Response.json({ items: [{ key: `k${asked}`, value: 1, updatedAt: 1 }], cursor: 'x', more: false })
    },
  })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const changes = storage('c').changes()
  expect((await changes.next()).value).toMatchObject({ key: 'k1' })
  const next = changes.next()
  await vi.advanceTimersByTimeAsync(59_999)
  expect(asked).toBe(2)
  await vi.advanceTimersByTimeAsync(201)
  expect((await next).value).toMatchObject({ key: 'k3' })
  const rejected = expect(changes.next()).rejects.toThrow('No answer within 60 s.')
  await vi.advanceTimersByTimeAsync(181_000)
  await rejected
  expect([asked, vi.getTimerCount()]).toEqual([6, 0])
})
