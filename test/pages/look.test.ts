import { describe, expect, it } from 'vitest'
import { themeFile } from '../../server/browser/look/theme.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { send } from '../support/request.ts'

const auth = authWorld()
const ask = (host: string, path: string, { method = 'GET', ...headers }: Record<string, string> = {}) =>
  send(auth.world.publicPort, method, path, { headers: { host, ...headers } })

const sheets = [
  ['apps.test', '/docs'],
  ['auth.test', '/docs'],
  ['lms.test', '/v1/docs'],
  ['auth.test', '/v1/oauth'],
] as const

const keptHeaders = {
  'cache-control': 'public, max-age=31536000, immutable, no-transform',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

describe.each(sheets)('the typefaces of the sheet at %s%s', (host, base) => {
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
        headers: { ...keptHeaders, 'content-type': 'font/woff2' },
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

describe.each(sheets)('the script for the theme beside the sheet at %s%s', (host, base) => {
  const address = base + themeFile.place

  it('is one that browsers keep', async () => {
    const { status, headers, text } = await ask(host, address)
    expect({ status, headers }).toMatchObject({
      status: 200,
      headers: { ...keptHeaders, 'content-type': 'text/javascript; charset=utf-8' },
    })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(text).toBe(themeFile.bytes.toString())
    expect(themeFile.bytes.length).toBeLessThan(2_500)
    expect((await ask(host, address, { 'if-none-match': headers.etag! })).status).toBe(304)
  })

  it('answers neither a POST nor under another name', async () => {
    expect((await ask(host, address, { method: 'POST' })).status).toBe(405)
    for (const other of ['theme.js', '..%2fstyle.css', '']) {
      expect((await ask(host, `${base}/theme/${other}`)).status, other).toBe(404)
    }
  })
})

it.each([
  ['apps.test', '/docs', '/docs'],
  ['lms.test', '/v1/docs', 'docs'],
  ['lms.test', '/v1/docs/errors', '.'],
])('the page at %s%s loads the script for the theme first, and waits for it', async (host, path, base) => {
  const { text } = await ask(host, path)
  const [script] = /<script[^>]*>/.exec(text)!
  expect(script).toBe(
    `<script src="${base}${themeFile.place}" data-system="Theme: system" data-light="Theme: light" data-dark="Theme: dark">`,
  )
  expect(text.indexOf(script)).toBeLessThan(text.indexOf('<link rel="stylesheet"'))
})
