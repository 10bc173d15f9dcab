import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadBrand } from '../../server/browser/brand.ts'
import { authWorld, issuer, startAuthWorld } from '../oauth/auth-world.ts'
import { send } from '../support/request.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>'
const png = Buffer.from('89504e470d0a1a0a0000', 'hex')

async function write(bytes: string | Buffer) {
  const file = join(await temporaryDirectory(), 'logo')
  await writeFile(file, bytes)
  return file
}

describe('BRAND_LOGO', () => {
  it.each([
    ['image/svg+xml', svg],
    ['image/svg+xml', `\uFEFF<?xml version="1.0"?>\n<!-- ours --><!DOCTYPE svg>\n${svg}`],
    ['image/png', png],
  ])('is %s by its content', async (type, bytes) => {
    expect(loadBrand({ name: 'Clubs', logo: await write(bytes) })).toMatchObject({ name: 'Clubs', logo: { type } })
  })

  it.each([
    ['a page', '<html><svg></svg></html>', 'is neither a PNG nor an SVG'],
    ['nothing', '', 'is neither a PNG nor an SVG'],
    ['a file above 32 KB', Buffer.concat([png, Buffer.alloc(32 * 1024)]), 'is larger than 32 KB'],
  ])('with %s stops the start', async (_what, bytes, why) => {
    const file = await write(bytes)
    expect(() => loadBrand({ name: undefined, logo: file })).toThrow(`BRAND_LOGO cannot be used: ${file} ${why}.`)
  })

  it('without its file stops the start', () => {
    expect(() => loadBrand({ name: undefined, logo: '/nowhere.png' })).toThrow(
      'BRAND_LOGO cannot be used: /nowhere.png cannot be read (ENOENT).',
    )
  })
})

describe('the header of the pages', () => {
  const brand = {
    name: 'Clubs & "Co"',
    logo: { type: 'image/svg+xml', bytes: Buffer.from(svg), version: 'one' },
  } as const
  const auth = authWorld({ pageBrand: brand })

  const ask = (host: string, path: string, headers = {}) =>
    send(auth.world.publicPort, 'GET', path, { headers: { host, accept: 'text/html', ...headers } })
  const findHeader = (text: string) => /<header>(.*)<\/header>/.exec(text)?.[1]
  const name = '<bdi>Clubs &amp; &quot;Co&quot;</bdi>'

  it('has name and logo where members sign in, on error pages of every kind too', async () => {
    const header = `<img src="/v1/oauth/logo/one" alt=""> ${name}`
    for (const path of ['connected', 'interaction/old', 'authorize?client_id=nobody']) {
      const { text } = await ask('auth.test', `/v1/oauth/${path}`)
      expect(findHeader(text), path).toBe(header)
    }
  })

  it('has them at other hosts, where the page loads nothing', async () => {
    for (const [host, path] of [
      ['plain.test', '/'],
      ['apps.test', '/nowhere'],
      ['auth.test', '/v1/oauth/nowhere'],
    ] as const) {
      const { text } = await ask(host, path)
      expect(findHeader(text), path).toBe(`<img src="data:image/svg+xml;base64,${btoa(svg)}" alt=""> ${name}`)
    }
  })

  it('has a logo that is kept, never runs, and is there in its version alone', async () => {
    const { status, headers, text } = await ask('auth.test', '/v1/oauth/logo/one')
    expect({ status, text }).toEqual({ status: 200, text: svg })
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable, no-transform',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
      etag: '"one"',
    })
    expect((await ask('auth.test', '/v1/oauth/logo/one', { 'if-none-match': '"one"' })).status).toBe(304)
    expect((await ask('auth.test', '/v1/oauth/logo/two')).status).toBe(404)
  })

  it('has a general name and a pennant without settings', async () => {
    const plain = await startAuthWorld()
    onTestFinished(() => plain.world.close())
    const page = await plain.newBrowser().open(`${issuer}/connected`)
    expect(findHeader(page.text)).toMatch(/^<svg [^<]*<path [^<]*<\/svg> <bdi>Member apps<\/bdi>$/)
  })
})
