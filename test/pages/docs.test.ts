import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { logoOf } from '../../server/browser/brand.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { startAuthWorld } from '../oauth/auth-world.ts'
import { renderedDocs } from '../support/rendered-docs.ts'
import { send } from '../support/request.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { bytesOf, expectCompressed, expectStored, getAt } from './stored-file.ts'

const at = (section: string) => `http://localhost:3000/${section}/v1`
const logo = logoOf('image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))
let auth: AuthWorld
let external: World
beforeAll(async () => {
  const localUrls = { apps: at('apps'), lms: at('lms'), notify: at('notify'), sync: at('sync'), auth: at('auth') }
  ;[auth, external] = await Promise.all([
    startAuthWorld({ localUrls }),
    startWorld({ pageBrand: { name: 'Riverside <clubs>', logo } }),
  ])
})
afterAll(() => Promise.all([auth.world.close(), external.close()]))

type Headers = Record<string, string>
const get = (host: string, path: string, headers: Headers = {}, method = 'GET') =>
  getAt(auth.world.publicPort, host, path, headers, method)

const { pages, groups, pictures } = renderedDocs.read()
const addressOf = (slug: string) => (slug === '' ? '/docs' : `/docs/${slug}`)
const addresses = pages.map(({ slug }) => addressOf(slug))
const assets = ['/docs/style.css', '/docs/script.js', '/docs/search.json']
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const MAX_PAGE_BYTES = 60_000
const MAX_SCRIPT_BYTES = 20_000

describe('a page of the documentation', () => {
  it.each(addresses)('is HTML below its budget, with nothing inline: %s', async (address) => {
    const { status, headers, text } = await get('apps.test', address)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toBe(policy)
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_PAGE_BYTES)
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    expect(text).not.toMatch(/<script[^>]*>[^<]|<style|\sstyle=|\son\w+=/)
    const loaded = [...text.matchAll(/<(?:link rel="stylesheet"|script)[^>]*(?:href|src)="([^"]*)"/g)]
    expect(loaded.map(([, url]) => url)).toEqual(['/docs/style.css', '/docs/script.js'])
    const levels = [...text.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level))
    expect(levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)).toEqual([])
    const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })

  it('leads, with all its links within the service, to what there is', async () => {
    const texts = new Map<string, string>()
    for (const address of addresses) texts.set(address, (await get('apps.test', address)).text)
    const links = [...texts].flatMap(([address, text]) =>
      [...text.matchAll(/<(?:a|img)[^>]*? (?:href|src)="([^"]*)"/g)].map(
        ([, url]) => new URL(url!, `http://apps.test${address}`),
      ),
    )
    const own = links.filter(({ host }) => host.endsWith('.test'))
    expect(own.length).toBeGreaterThan(1_000)
    const wrong = own.filter(({ pathname, hash }) => {
      const text = texts.get(pathname)
      return text !== undefined && hash !== '' && !text.includes(` id="${decodeURIComponent(hash.slice(1))}"`)
    })
    expect(wrong.map(String)).toEqual([])
    for (const address of new Set(own.map(({ host, pathname }) => `${host} ${pathname}`))) {
      const [host, path] = address.split(' ') as [string, string]
      // Without a session, the portal redirects to its own sign-in.
      expect([address, (await get(host, path)).status]).toEqual([
        address,
        path.endsWith('/developers') ? expect.any(Number) : 200,
      ])
    }
  })

  it('has the page before and the page after it in the order of the sidebar', async () => {
    const order = ['', ...groups.flatMap(({ slugs }) => slugs)]
    for (const [i, slug] of order.entries()) {
      const { text } = await get('lms.test', addressOf(slug))
      const way = (rel: string) => new RegExp(`<a rel="${rel}" href="([^"]*)"`).exec(text)?.[1]
      const [before, after] = [order[i - 1], order[i + 1]]
      expect(way('prev')).toBe(before === undefined ? undefined : addressOf(before))
      expect(way('next')).toBe(after === undefined ? undefined : addressOf(after))
      expect([...text.matchAll(/<a href="([^"]*)" aria-current="page">/g)].map(([, url]) => url)).toEqual([
        addressOf(slug),
      ])
    }
  })

  it.each(['plain.test', 'apps.test', 'lms.test', 'notify.test', 'auth.test', 'localhost:3000'])(
    'is at every host: %s',
    async (host) => {
      for (const path of ['/docs', '/docs/apps', ...assets])
        expect([path, (await get(host, path)).status]).toEqual([path, 200])
    },
  )

  it('leads to the reference, the errors and the portal, at localhost to those there', async () => {
    const [own, local] = await Promise.all([get('apps.test', '/docs'), get('localhost:3000', '/docs')])
    for (const url of [
      'http://apps.test/v1/docs',
      'http://apps.test/v1/docs/errors',
      'http://auth.test/v1/oauth/developers',
    ])
      expect(own.text).toContain(`href="${url}"`)
    for (const url of [`${at('apps')}/docs`, `${at('apps')}/docs/errors`, `${at('auth')}/oauth/developers`])
      expect(local.text).toContain(`href="${url}"`)
  })
})

describe('a file of the documentation', () => {
  it.each(['/docs', '/docs/security', ...assets])('has an ETag, 304 and HEAD: %s', async (path) => {
    await expectStored(auth.world.publicPort, path)
  })

  it('is compressed if that is accepted, with an ETag of its own', () =>
    expectCompressed(auth.world.publicPort, '/docs/apps'))

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is 405 for %s', async (method) => {
    for (const path of ['/docs', '/docs/apps', '/docs/script.js', `/docs/images/${Object.keys(pictures)[0]}`])
      expect(await get('notify.test', path, {}, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('is small: the script and the search index', async () => {
    const [script, index] = await Promise.all(
      ['/docs/script.js', '/docs/search.json'].map((path) => get('apps.test', path)),
    )
    expect(Buffer.byteLength(script!.text)).toBeLessThan(MAX_SCRIPT_BYTES)
    const { bytes } = await bytesOf(auth.world.publicPort, '/docs/search.json', 'gzip')
    expect(bytes.length).toBeLessThan(MAX_PAGE_BYTES)
    expect(index!.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(index!.body.pages).toHaveLength(pages.length - 1)
  })

  it.each(Object.keys(pictures))('is a picture with its type: %s', async (name) => {
    const { bytes, type, policy: own, etag } = await bytesOf(auth.world.publicPort, `/docs/images/${name}`, 'gzip')
    expect(bytes.equals(await renderedDocs.picture(name))).toBe(true)
    expect(type).toBe(name.endsWith('.svg') ? 'image/svg+xml' : 'image/png')
    expect(own).toMatch(/^default-src 'none'; style-src 'unsafe-inline'; sandbox; /)
    expect((await get('apps.test', `/docs/images/${name}`, { 'if-none-match': etag })).status).toBe(304)
  })
})

describe('an address below /docs without a page', () => {
  const wrong = [
    '/docs/',
    '/docs/nowhere',
    '/docs/apps/',
    '/docs/apps.md',
    '/docs/Apps',
    '/docs/../package.json',
    '/docs/images/../docs.json',
    '/docs/images/..%2Fdocs.json',
    '/docs/images/%2e%2e/docs.json',
    '/docs/images/..\\docs.json',
    '/docs/images/',
    '/docs/images/logo',
    '/docs/docs.json',
    '/docs/constructor',
    '/docs/__proto__',
    '/docs/images/__proto__',
    '/docs/%61pps',
    '//docs/apps',
    '/docs%2Fapps',
  ]

  it.each(wrong)('is 404 in the form of its host: %s', async (path) => {
    const [apps, lms, page] = await Promise.all([
      get('apps.test', path),
      get('lms.test', path),
      get('plain.test', path, { accept: 'text/html' }),
    ])
    expect([apps.status, apps.body]).toEqual([404, { detail: 'There is nothing at this address.' }])
    expect([lms.status, lms.body.error.code]).toEqual([404, 'not_found'])
    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.text).toContain('href="/docs"')
  })

  it('is 404 for other methods too', async () => {
    expect((await get('apps.test', '/docs/nowhere', {}, 'POST')).status).toBe(404)
  })
})

describe('the documentation with a brand and an external issuer', () => {
  const ask = (path: string, headers: Headers = {}) =>
    send(external.publicPort, 'GET', path, { headers: { host: 'apps.test', ...headers } })

  it('has the name and the logo, and no portal', async () => {
    const { text } = await ask('/docs/apps')
    expect(text).toContain('<img src="/docs/images/logo" alt=""> <bdi>Riverside &lt;clubs&gt;</bdi>')
    expect(text).not.toContain('/oauth/developers"')
    const { status, headers } = await ask('/docs/images/logo')
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml'])
    expect((await ask('/docs/images/logo', { 'if-none-match': headers.etag! })).status).toBe(304)
  })
})
