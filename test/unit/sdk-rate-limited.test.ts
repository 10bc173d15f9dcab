import { expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../clients/sdk/client.ts'

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
