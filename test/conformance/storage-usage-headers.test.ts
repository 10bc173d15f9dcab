import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { startWorld } from '../support/world.ts'

const QUOTA = 1000

const world = useWorld({ storageQuotaBytes: QUOTA })
beforeAll(async () => {
  await world.call('PUT', '/storage/c/k', { body: { value: 'x'.repeat(598) } })
})

const value = (bytes: number) => 'x'.repeat(bytes - 2)
const usageOf = ({ status, headers }: Pick<Reply, 'status' | 'headers'>) => [
  status,
  headers['x-storage-used'],
  headers['x-storage-limit'],
]
const refused = [413, '600', '1000']

describe('a 413 of the storage tells the usage', () => {
  it('when the store has no room', async () => {
    expect(usageOf(await world.call('PUT', '/storage/c/other', { body: { value: value(401) } }))).toEqual(refused)
    expect(usageOf(await world.call('PUT', '/storage/c/k', { body: { value: value(1001) } }))).toEqual(refused)
  })

  it('when the Content-Length is beyond the quota', async () => {
    const reply = await world.call('PUT', '/storage/c/other', { body: { value: value(QUOTA + 70_000) } })
    expect(usageOf(reply)).toEqual(refused)
  })

  it('when chunks are beyond the quota', async () => {
    const headers = {
      host: 'apps.test',
      authorization: `Bearer ${await world.token()}`,
      'content-type': 'application/json',
    }
    const sent = request({ port: world.publicPort, method: 'PUT', path: '/v1/storage/c/other', headers })
    sent.write('{"value":"')
    sent.end(`${value(QUOTA + 70_000)}"}`)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    expect(usageOf({ status: response.statusCode!, headers: response.headers })).toEqual(refused)
  })

  it('over tRPC, alone and in a batch', async () => {
    const headers = { authorization: `Bearer ${await world.token()}` }
    for (const bytes of [401, QUOTA + 70_000]) {
      const input = { collection: 'c', key: 'other', value: value(bytes) }
      for (const [path, body] of [
        ['storage.put', input],
        ['storage.put?batch=1', { 0: input }],
      ] as const) {
        expect(usageOf(await world.internal('POST', `/trpc/${path}`, { headers, body }))).toEqual(refused)
      }
    }
  })

  it('and so do a 412, and the 404 of a DELETE', async () => {
    const stale = { headers: { 'if-match': '"x"' } }
    const used = ['600', '1000']
    expect(usageOf(await world.call('PUT', '/storage/c/k', { body: { value: 1 }, ...stale }))).toEqual([412, ...used])
    expect(usageOf(await world.call('DELETE', '/storage/c/k', stale))).toEqual([412, ...used])
    expect(usageOf(await world.call('DELETE', '/storage/c/none'))).toEqual([404, ...used])
    const nothing = await startWorld({ storageQuotaBytes: QUOTA })
    onTestFinished(() => nothing.close())
    expect(usageOf(await nothing.call('DELETE', '/storage/c/none'))).toEqual([404, '0', '1000'])
  })

  it('but not of another refusal', async () => {
    const reply = await world.call('PUT', '/storage/c/other', { body: { value: 1, more: 1 } })
    expect(usageOf(reply)).toEqual([400, undefined, undefined])
    const scopeless = await world.call('PUT', '/storage/c/other', {
      body: { value: value(5000) },
      claims: { scope: '' },
    })
    expect(usageOf(scopeless)).toEqual([403, undefined, undefined])
    expect((await world.call('GET', '/storage/c')).body.total).toBe(1)
  })
})
