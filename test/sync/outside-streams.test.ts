import { fetchEventSource } from '@microsoft/fetch-event-source'
import { EventSource } from 'eventsource'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { localUrlsAt } from '../support/local-urls.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld({
  localUrls: localUrlsAt('http://localhost:3000'),
})

/** Opens the changes of a collection, and calls `seen` with the data of each event. */
type Open = (url: string, headers: Record<string, string>, seen: (data: string) => void) => { close: () => void }

const clients: [name: string, open: Open][] = [
  [
    'fetch-event-source',
    (url, headers, seen) => {
      const controller = new AbortController()
      vi.stubGlobal('window', globalThis)
      vi.stubGlobal('document', new EventTarget())
      const { signal } = controller
      void fetchEventSource(url, { headers, signal, openWhenHidden: true, onmessage: ({ data }) => seen(data) })
      return { close: () => controller.abort() }
    },
  ],
  [
    'eventsource',
    (url, own, seen) => {
      const source = new EventSource(url, {
        fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...own } }),
      })
      source.onmessage = ({ data }) => seen(data as string)
      return source
    },
  ],
]

describe.each(clients)('the changes of a collection in %s', (_, open) => {
  it('are the changes alone, over one connection', async () => {
    const [collection, seen] = [id('c'), [] as { key: string; value: number }[]]
    const put = (key: string, value: number) => world.call('PUT', `/storage/${collection}/${key}`, { body: { value } })
    await put('a', 1)
    const authorization = `Bearer ${await world.token({ organisation: world.ids.club })}`
    const url = `http://127.0.0.1:${world.publicPort}/sync/v1/collections/${collection}/changes`
    // As an app does: an event without data would throw, and the client would connect again.
    const stream = open(url, { authorization }, (data) => seen.push(JSON.parse(data)))
    onTestFinished(() => {
      stream.close()
      vi.unstubAllGlobals()
    })
    await expect.poll(() => seen).toMatchObject([{ key: 'a', value: 1 }])
    for (const key of ['b', 'c', 'd']) await put(key, 2)
    await expect.poll(() => seen.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd'])
    expect(world.longPollSlots.size).toBe(1)
    stream.close()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })
})
