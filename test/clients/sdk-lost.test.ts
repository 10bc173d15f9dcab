import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createClient, EntryChanged } from '../../clients/sdk/client.ts'
import { chance } from '../support/chance.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { times } from '../support/rounds.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { Loss } from './losing-proxy.ts'
import { losingProxy } from './losing-proxy.ts'

const world = useWorld({ localUrls: localUrlsAt('http://127.0.0.1') })

type Settings = Omit<Parameters<typeof losingProxy>[0], 'port'>

async function behind(settings: Settings) {
  const { port, requests } = await losingProxy({ ...settings, port: world.publicPort })
  const waits: number[] = []
  const options = {
    apps: `http://127.0.0.1:${port}/apps/v1`,
    sync: `http://127.0.0.1:${port}/sync/v1`,
    tokens: await world.token(),
    wait: async (ms: number) => void waits.push(ms),
  }
  const api = createClient(options)
  return { api, collection: api.storage<number>(id('c')), requests, waits }
}

/** Loses the first `count` answers to writes. */
const first = (loss: Loss, count = 1) => {
  let left = count
  return ({ method }: IncomingMessage): Loss => (method !== 'GET' && left-- > 0 ? loss : 'none')
}
const LOSSES = ['before', 'after', 'cut', 'gateway'] as const

describe('a conditional write whose answer is lost', () => {
  it.each(LOSSES)('is repeated with its key, and counts once: %s', async (loss) => {
    for (const count of [1, 2]) {
      const { collection, requests, waits } = await behind({ keys: 'passed', lose: first(loss, count) })
      const put = await collection.put('k', 1, { ifNoneMatch: '*' })
      expect(put).toEqual(await collection.get('k'))
      const keys = requests.filter(({ line }) => line.startsWith('PUT')).map(({ key }) => key)
      expect(keys).toEqual(Array(count + 1).fill(expect.stringMatching(/^[\da-f-]{36}$/)))
      expect(new Set(keys).size).toBe(1)
      expect(waits).toEqual([200, 800].slice(0, count))
    }
  })

  it.each(LOSSES)('is so with If-Match, and for delete and batches: %s', async (loss) => {
    const lose = { now: first('none') }
    const { api, collection, requests } = await behind({ keys: 'passed', lose: (request) => lose.now(request) })
    const { etag } = await collection.put('k', 1)
    lose.now = first(loss)
    const second = await collection.put('k', 2, { ifMatch: etag })
    lose.now = first(loss)
    expect(await collection.delete('k', { ifMatch: second.etag })).toBe(true)
    lose.now = first(loss)
    const name = id('c')
    const at = { collection: name, key: 'b' }
    const [put] = await api.storage.batch([{ op: 'put', ...at, value: 1, ifNoneMatch: '*' }])
    expect(put).toMatchObject({ etag: expect.any(String) })
    expect((await api.storage(name).get('b'))?.value).toBe(1)
    const keys = requests.flatMap(({ key }) => key ?? [])
    expect([keys.length, new Set(keys).size]).toEqual([6, 3])
  })

  it('is rejected after the third loss, and others send no key', async () => {
    const { collection, requests } = await behind({ keys: 'passed', lose: first('after', 3) })
    await expect(collection.put('k', 1, { ifNoneMatch: '*' })).rejects.toThrow(TypeError)
    await collection.put('k', 2)
    await collection.delete('k')
    await collection.list()
    expect(requests.map(({ key }) => key !== undefined)).toEqual([true, true, true, false, false, false])
  })

  it('has another key for each call', async () => {
    const { collection, requests } = await behind({ keys: 'passed' })
    for (const key of ['a', 'b']) await collection.put(key, 1, { ifNoneMatch: '*' })
    expect(new Set(requests.map(({ key }) => key)).size).toBe(2)
  })
})

describe('update() whose answers are lost', () => {
  it.each([...LOSSES.map((loss) => ['passed', loss] as const), ...LOSSES.map((loss) => ['dropped', loss] as const)])(
    'counts once where keys are %s: %s',
    async (keys, loss) => {
      for (const count of [1, 2]) {
        const { collection } = await behind({ keys, lose: first(loss, count) })
        const entry = await collection.update('n', (was) => (was ?? 0) + 1)
        expect(entry).toEqual(await collection.get('n'))
        expect(entry.value).toBe(1)
        expect((await collection.update('n', (was) => (was ?? 0) + 1)).value).toBe(2)
      }
    },
  )

  it('counts every one of many writers, whatever is lost', async () => {
    const draw = chance('lost answers')
    for (let round = 0; round < times(20, 2); round++) {
      const lost = new Map<string, number>()
      const lose = ({ headers, method }: IncomingMessage): Loss => {
        const key = String(headers['idempotency-key'])
        const before = lost.get(key) ?? 0
        // No more than a call survives.
        if (method === 'GET' || before === 2 || draw(3) > 0) return 'none'
        lost.set(key, before + 1)
        return LOSSES[draw(LOSSES.length)]!
      }
      const { collection } = await behind({ keys: 'passed', lose })
      const add = () => collection.update('n', (was) => (was ?? 0) + 1, { attempts: 500 })
      await Promise.all(Array.from({ length: 8 }, add))
      expect((await collection.get('n'))?.value).toBe(8)
    }
  })
})

describe('a proxy that changes ETags', () => {
  const changes = {
    weakens: (etag: string) => `W/${etag}`,
    'names its encoding': (etag: string) => etag.replace(/"$/, '-gzip"'),
    both: (etag: string) => `W/${etag.replace(/"$/, '-br"')}`,
  }
  it.each(Object.entries(changes))('and %s changes no write', async (_, etag) => {
    const { api, collection } = await behind({ keys: 'dropped', etag })
    const strong = expect.stringMatching(/^"[^"]+"$/)
    const made = await collection.put('k', 1)
    expect(await collection.get('k')).toMatchObject({ etag: strong })
    expect(await collection.update('k', (was) => was! + 1)).toMatchObject({ value: 2, etag: strong })
    await expect(collection.put('k', 3, { ifMatch: made.etag })).rejects.toThrow(EntryChanged)
    const now = await collection.get('k')
    // As an app has it that has asked by itself.
    const { etag: next } = await collection.put('k', 3, { ifMatch: etag(now!.etag) })
    const name = id('c')
    await api.storage(name).put('b', 1)
    const found = await api.storage(name).get('b')
    await api.storage.batch([{ op: 'put', collection: name, key: 'b', value: 2, ifMatch: etag(found!.etag) }])
    expect(await collection.delete('k', { ifMatch: etag(next) })).toBe(true)
  })
})
