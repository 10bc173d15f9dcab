import { get as request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { send } from '../support/request.ts'

/** A GET of `host`, with other headers or another method where given. */
export const getAt = (port: number, host: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(port, method, path, { headers: { host, ...headers } })

/** Expects that a file is validated by its ETag, that HEAD has its length, and that it is not for other origins. */
export async function expectStored(port: number, path: string) {
  const { status, headers, text } = await getAt(port, 'apps.test', path)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'cache-control': 'no-cache, no-transform',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  })
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  const again = await getAt(port, 'apps.test', path, { 'if-none-match': headers.etag! })
  expect([again.status, again.text]).toEqual([304, ''])
  const head = await getAt(port, 'apps.test', path, {}, 'HEAD')
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']])
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
  return headers
}

/** Expects that a file is compressed where that is accepted, with an ETag of its own. */
export async function expectCompressed(port: number, path: string) {
  const [plain, zipped] = await Promise.all([bytesOf(port, path, 'identity'), bytesOf(port, path, 'br, gzip;q=0.8')])
  expect([plain.encoding, zipped.encoding]).toEqual([undefined, 'gzip'])
  expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
  expect(zipped.etag).not.toBe(plain.etag)
}

interface Answer {
  bytes: Buffer
  encoding: string | undefined
  etag: string
  type: string | undefined
  policy: string | undefined
}

/** The body as it was sent. */
export function bytesOf(port: number, path: string, accepted: string) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = { host: 'apps.test', 'accept-encoding': accepted }
    const sent = request({ port, path, headers }, async (response) => {
      const { 'content-encoding': encoding, etag, 'content-type': type } = response.headers
      const { 'content-security-policy': policy } = response.headers
      const bytes = await buffer(response)
      resolve({ bytes, encoding, etag: etag!, type, policy: policy as string | undefined })
    })
    sent.on('error', reject)
  })
}
