import { Agent, request } from 'node:http'
import { inspect, isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { memoryLimits } from '../../server/limits/memory.ts'
import { startWorld } from '../support/world.ts'

const agent = new Agent({ keepAlive: true })

const storedBytes = `SELECT convert_to(value, 'UTF8') AS bytes FROM "StorageEntry"
    WHERE "appId" = $1 AND owner = $2 AND collection = $3 AND key = $4`

interface Place {
  collection: string
  key: string
  scope: 'org' | 'user'
}

/** Starts a service with its own storage and a client that returns bytes: decoding could hide differences. */
export async function startStorage() {
  // The tests send more requests than a team may in a minute: here a minute passes with each.
  let minutes = 0
  const world = await startWorld({ limits: memoryLimits(() => minutes++ * 60_000) })
  const authorization = `Bearer ${await world.token()}`
  const send = (port: number, host: string, method: string, path: string, body?: string) =>
    new Promise<{ status: number; bytes: Buffer; etag: string | undefined }>((resolve, reject) => {
      const type = body !== undefined && { 'content-type': 'application/json' }
      const options = { agent, port, host: '127.0.0.1', method, path, headers: { host, authorization, ...type } }
      const sent = request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
        response.on('end', () => {
          const { statusCode, headers } = response
          resolve({ status: statusCode!, bytes: Buffer.concat(chunks), etag: headers.etag })
        })
      })
      sent.on('error', reject).end(body)
    })
  const rest = (method: string, path: string, body?: string) =>
    send(world.publicPort, 'apps.test', method, `/v1/storage/${path}`, body)

  return {
    world,
    authorization,
    rest,
    /** Returns the entry as in REST responses, and as over tRPC, with its ETag. */
    async put({ collection, key, scope }: Place, text: string, body = `{"value":${text}}`) {
      const { status, bytes, etag } = await rest('PUT', `${collection}/${key}?scope=${scope}`, body)
      expect({ status, refusal: status !== 200 && bytes.toString() }).toEqual({ status: 200, refusal: false })
      // Only the time is taken from the response.
      const [, updatedAt] = /"updatedAt":(\d{10})\}$/.exec(bytes.subarray(-40).toString('latin1')) ?? []
      const entry = `{"key":"${key}","value":${text},"updatedAt":${updatedAt}}`
      expectBytes(bytes, entry)
      return { entry, typed: `${entry.slice(0, -1)},"etag":${JSON.stringify(etag)}}` }
    },
    /** GET at the host of sync. */
    sync: (path: string) => send(world.publicPort, 'sync.test', 'GET', `/v1${path}`),
    batch: (body: string) => send(world.publicPort, 'sync.test', 'POST', '/v1/batch', body),
    query: (procedure: 'storage.get' | 'storage.list' | 'storage.entries', input: object) => {
      const search = new URLSearchParams({ input: JSON.stringify(input) })
      return send(world.internalPort, 'localhost', 'GET', `/trpc/${procedure}?${search}`)
    },
    mutation: (procedure: 'storage.put' | 'storage.batch', input: string, query = '') =>
      send(world.internalPort, 'localhost', 'POST', `/trpc/${procedure}${query}`, input),
    async expectStored({ collection, key, scope }: Place, text: string) {
      const { app, member } = world.ids
      const values = [app, scope === 'user' ? member : '', collection, key]
      const rows = await world.db.$queryRawUnsafe<{ bytes: Uint8Array }[]>(storedBytes, ...values)
      expect(rows).toHaveLength(1)
      expectBytes(Buffer.from(rows[0]!.bytes), text)
    },
  }
}

/** Shows the bytes around the first difference: the values may have megabytes. */
export function expectBytes(actual: Buffer, text: string) {
  const wanted = Buffer.from(text)
  if (actual.equals(wanted)) return
  const at = wanted.findIndex((byte, i) => byte !== actual[i])
  const around = (bytes: Buffer) => ({
    length: bytes.length,
    bytes: bytes.subarray(Math.max(0, at - 60), Math.max(0, at) + 60).toString('latin1'),
  })
  expect(around(actual)).toEqual(around(wanted))
}

/** Distinguishes -0 from 0, supports `__proto__` as a key, and compares the order of keys. */
export function expectSame(actual: unknown, wanted: unknown) {
  if (isDeepStrictEqual(actual, wanted) && JSON.stringify(actual) === JSON.stringify(wanted)) return
  const shown = (value: unknown) => inspect(value, { depth: 8, maxStringLength: 200, maxArrayLength: 20 })
  expect.fail(`Expected ${shown(wanted)}, got ${shown(actual)}.`)
}
