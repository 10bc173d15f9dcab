import { describe, expect, it } from 'vitest'
import { authWorld } from '../oauth/auth-world.ts'
import { send } from '../support/request.ts'

const auth = authWorld()
const ask = (host: string, path: string, { method = 'GET', ...headers }: Record<string, string> = {}) =>
  send(auth.world.publicPort, method, path, { headers: { host, ...headers } })

describe.each([
  ['apps.test', '/docs'],
  ['auth.test', '/docs'],
  ['lms.test', '/v1/docs'],
  ['auth.test', '/v1/oauth'],
])('the typefaces of the sheet at %s%s', (host, base) => {
  const readAddresses = async () => {
    const { text } = await ask(host, `${base}/style.css`)
    return [...text.matchAll(/url\(([^)]+)\)/g)].map(([, address]) => `${base}/${address}`)
  }

  it('are fonts that browsers keep', async () => {
    const addresses = await readAddresses()
    expect(addresses).toHaveLength(2)
    for (const address of addresses) {
      const { status, headers } = await ask(host, address)
      expect({ status, headers }).toMatchObject({
        status: 200,
        headers: {
          'content-type': 'font/woff2',
          'cache-control': 'public, max-age=31536000, immutable, no-transform',
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
        },
      })
      expect(Number(headers['content-length'])).toBeLessThan(60_000)
      expect((await ask(host, address, { 'if-none-match': headers.etag! })).status).toBe(304)
    }
  })

  it('answer neither a POST nor under another name', async () => {
    const [address] = await readAddresses()
    expect((await ask(host, address!, { method: 'POST' })).status).toBe(405)
    for (const other of ['inter.woff2', '..%2fstyle.css', '']) {
      expect((await ask(host, `${base}/fonts/${other}`)).status, other).toBe(404)
    }
  })
})
