import { readFile } from 'node:fs/promises'
import { get as request } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { errorCatalogue, errors } from '../../routers/kernel/errors.ts'
import { toLogo } from '../../server/browser/brand.ts'
import { themeFile } from '../../server/browser/look/theme.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { renderedDocs } from '../support/rendered-docs.ts'
import { send } from '../support/request.ts'
import { useWorld } from '../support/started.ts'

const root = join(import.meta.dirname, '../..')
const apis = ['apps', 'lms', 'notify', 'sync'] as const
const localUrls = localUrlsAt('http://localhost:3000')
const logo = toLogo('image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))
const auth = authWorld({ localUrls })
/** With an external issuer. */
const external = useWorld({ pageBrand: { name: 'Riverside <clubs>', logo } })

type Headers = Record<string, string>
const get = (host: string, path: string, headers: Headers = {}, method = 'GET') =>
  send(auth.world.publicPort, method, path, { headers: { host, ...headers } })
const askExternal = (path: string, headers: Headers = {}, host = 'apps.test') =>
  send(external.publicPort, 'GET', path, { headers: { host, ...headers } })

/** As transferred, with gzip. The whole page, with its sheet and scripts, has 60 kB. */
const MAX_PAGE_BYTES = 20_000
const MAX_SCRIPT_BYTES = 20_000
const transferred = (text: string) => gzipSync(text).length

/** Expects that a file is validated by its ETag, that HEAD has its length, and that it is not for other origins. */
async function expectStored(path: string) {
  const { status, headers, text } = await get('apps.test', path)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'cache-control': 'no-cache, no-transform',
    'x-content-type-options': 'nosniff',
    vary: expect.stringContaining('Accept-Encoding'),
  })
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  const again = await get('apps.test', path, { 'if-none-match': headers.etag! })
  expect([again.status, again.text]).toEqual([304, ''])
  const head = await get('apps.test', path, {}, 'HEAD')
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']])
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
  return headers
}

/** Expects that a file is compressed where that is accepted, with an ETag of its own. */
async function expectCompressed(path: string) {
  const [plain, zipped] = await Promise.all([readBytes(path, 'identity'), readBytes(path, 'br, gzip;q=0.8')])
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
function readBytes(path: string, accepted: string) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = { host: 'apps.test', 'accept-encoding': accepted }
    const sent = request({ port: auth.world.publicPort, path, headers }, async (response) => {
      const { 'content-encoding': encoding, etag, 'content-type': type } = response.headers
      const { 'content-security-policy': policy } = response.headers
      const bytes = await buffer(response)
      resolve({ bytes, encoding, etag: etag!, type, policy: policy as string | undefined })
    })
    sent.on('error', reject)
  })
}

const { pages, groups, pictures } = renderedDocs.read()
const toAddress = (slug: string) => (slug === '' ? '/docs' : `/docs/${slug}`)
const addresses = pages.map(({ slug }) => toAddress(slug))
const assets = ['/docs/style.css', '/docs/script.js']
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

describe('a package for apps', () => {
  it.each([
    ['/sdk.tgz', 'member-apps-sdk', '@member-apps/sdk'],
    ['/first-party.tgz', 'member-apps-client', 'member-apps-client'],
  ])(
    'is served at every host with its version, is not for other origins, and is 405 for POST: %s',
    async (path, file, name) => {
      const { version } = JSON.parse(await readFile(join(root, 'clients', path.slice(1, -4), 'package.json'), 'utf8'))
      for (const host of ['apps.test', 'lms.test', 'auth.test']) {
        const { status, headers } = await get(host, path)
        expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
          200,
          'application/gzip',
          `attachment; filename="${file}-${version}.tgz"`,
        ])
      }
      const response = await fetch(`http://127.0.0.1:${auth.world.publicPort}${path}`, {
        headers: { 'accept-encoding': 'gzip' },
      })
      const { headers } = response
      const bytes = Buffer.from(await response.arrayBuffer())
      expect(gunzipSync(bytes).includes(`"name": "${name}"`)).toBe(true)
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-cache, no-transform',
        'x-content-type-options': 'nosniff',
        'content-length': String(bytes.length),
        etag: expect.stringMatching(`^"${version}-[\\w-]{20}"$`),
      })
      for (const header of ['access-control-allow-origin', 'content-encoding']) expect(headers.has(header)).toBe(false)
      const again = await get('apps.test', path, { 'if-none-match': headers.get('etag')! })
      expect([again.status, again.text, again.headers['content-disposition']]).toEqual([304, '', undefined])
      const head = await get('apps.test', path, {}, 'HEAD')
      expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(bytes.length)])
      const post = await get('apps.test', path, {}, 'POST')
      expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
    },
  )

  it.each(['/sdk.tgz/', '/sdk', '/SDK.tgz', '/sdk-0.1.0.tgz', '/..%2fsdk.tgz'])(
    'has no other address: %s',
    async (path) => {
      expect((await get('apps.test', path)).status).toBe(404)
    },
  )
})

describe('a page of the documentation', () => {
  it.each(addresses)('is HTML below its budget, with nothing inline: %s', async (address) => {
    const { status, headers, text } = await get('apps.test', address)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toBe(docsPolicy)
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
    expect(transferred(text)).toBeLessThan(MAX_PAGE_BYTES)
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    expect(text).not.toMatch(/<script[^>]*>[^<]|<style|\sstyle=|\son\w+=/)
    const loaded = [...text.matchAll(/<(?:link rel="stylesheet"|script)[^>]*(?:href|src)="([^"]*)"/g)]
    expect(loaded.map(([, url]) => url)).toEqual([`/docs${themeFile.place}`, '/docs/style.css', '/docs/script.js'])
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
      const { text } = await get('lms.test', toAddress(slug))
      const way = (rel: string) => new RegExp(`<a rel="${rel}" href="([^"]*)"`).exec(text)?.[1]
      const [before, after] = [order[i - 1], order[i + 1]]
      expect(way('prev')).toBe(before === undefined ? undefined : toAddress(before))
      expect(way('next')).toBe(after === undefined ? undefined : toAddress(after))
      expect([...text.matchAll(/<a href="([^"]*)" aria-current="page">/g)].map(([, url]) => url)).toEqual([
        toAddress(slug),
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
    for (const url of [`${localUrls.apps}/docs`, `${localUrls.apps}/docs/errors`, `${localUrls.auth}/oauth/developers`])
      expect(local.text).toContain(`href="${url}"`)
  })
})

describe('a file of the documentation', () => {
  it.each(['/docs', '/docs/security', ...assets])('has an ETag, 304 and HEAD: %s', async (path) => {
    await expectStored(path)
  })

  it('is compressed if that is accepted, with an ETag of its own', () => expectCompressed('/docs/apps'))

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is 405 for %s', async (method) => {
    for (const path of ['/docs', '/docs/apps', '/docs/script.js', `/docs/images/${Object.keys(pictures)[0]}`])
      expect(await get('notify.test', path, {}, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('is small: the script', async () => {
    expect(Buffer.byteLength((await get('apps.test', '/docs/script.js')).text)).toBeLessThan(MAX_SCRIPT_BYTES)
  })

  it.each(Object.keys(pictures))('is a picture with its type: %s', async (name) => {
    const { bytes, type, policy: own, etag } = await readBytes(`/docs/images/${name}`, 'gzip')
    expect(bytes.equals(await renderedDocs.picture(name))).toBe(true)
    expect(type).toBe(name.endsWith('.svg') ? 'image/svg+xml' : 'image/png')
    expect(own).toMatch(/^default-src 'none'; style-src 'unsafe-inline'; sandbox; /)
    expect((await get('apps.test', `/docs/images/${name}`, { 'if-none-match': etag })).status).toBe(304)
  })
})

describe('an address below /docs without a page', () => {
  const wrong = [
    ...['/docs/', '/docs/nowhere', '/docs/apps/', '/docs/apps.md', '/docs/Apps', '/docs/../package.json'],
    ...['/docs/images/../docs.json', '/docs/images/..%2Fdocs.json', '/docs/images/%2e%2e/docs.json'],
    ...['/docs/images/..\\docs.json', '/docs/images/', '/docs/images/logo', '/docs/docs.json', '/docs/constructor'],
    ...['/docs/__proto__', '/docs/images/__proto__', '/docs/%61pps', '//docs/apps', '/docs%2Fapps'],
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

it('the documentation with a brand and an external issuer has the name and the logo, and no portal', async () => {
  const { text } = await askExternal('/docs/apps')
  expect(text).toContain('<img src="/docs/images/logo" alt=""> <bdi>Riverside &lt;clubs&gt;</bdi>')
  expect(text).not.toContain('/oauth/developers"')
  const { status, headers } = await askExternal('/docs/images/logo')
  expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml'])
  expect((await askExternal('/docs/images/logo', { 'if-none-match': headers.etag! })).status).toBe(304)
})

const scripts = ['/v1/docs/frame.js', '/v1/docs/code.js', '/v1/docs/try.js']
const paths = ['/v1/docs', '/v1/docs/errors', '/v1/docs/style.css', ...scripts]
const policy = (more = '') =>
  `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src data:; connect-src 'self'${more}; ` +
  `base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

describe.each(apis)('the reference of %s', (api) => {
  it('is at the host of each other API too, which may call it, and is not for an unknown name', async () => {
    const other = apis.find((one) => one !== api)!
    const { headers, text } = await get(`${other}.test`, `/v1/docs?api=${api}`)
    expect(text).toContain(`data-base="http://${api}.test/v1"`)
    expect(text.match(/<section class="operation" id="[^"]+"/g)).toEqual(
      (await get(`${api}.test`, '/v1/docs')).text.match(/<section class="operation" id="[^"]+"/g),
    )
    expect(headers['content-security-policy']).toMatch(new RegExp(`connect-src 'self'[^;]* http://${api}\\.test/v1/;`))
    for (const name of ['admin', 'constructor', '', 'apps,lms', `${api}%0d%0ax:y`, '//evil.example']) {
      const own = await get(`${api}.test`, `/v1/docs?api=${name}`)
      expect(own.text).toContain(`data-base="http://${api}.test/v1"`)
      expect(own.headers['content-security-policy']).not.toContain('/v1/;')
      expect(own.text).not.toContain('evil')
    }
  })

  it('has each operation of the document, with a field for every parameter and the body', async () => {
    const [{ text }, { body }] = await Promise.all([
      get(`${api}.test`, '/v1/docs'),
      get(`${api}.test`, '/v1/openapi.json'),
    ])
    for (const [path, methods] of Object.entries<object>(body.paths))
      for (const [method, { operationId, parameters = [], requestBody, summary }] of Object.entries(methods)) {
        const [, section] = new RegExp(`<section class="operation" id="${operationId}">(.*?)</section>`, 's').exec(
          text,
        )!
        expect(section).toContain(`<h2>${escaped(summary)}</h2>`)
        expect(section).toContain(`data-method="${method.toUpperCase()}" data-path="${path}"`)
        for (const { name, in: place } of parameters) expect(section).toContain(`name="${name}" data-in="${place}"`)
        expect(section!.includes('<textarea name="body"')).toBe(requestBody !== undefined)
        expect(text).toContain(`href="#${operationId}"`)
      }
  })

  it('asks for nothing elsewhere, has no script of its own, and links to what is there', async () => {
    const { text } = await get(`${api}.test`, '/v1/docs')
    const loaded = [...text.matchAll(/<(?:link|script|img)[^>]*(?:href|src)="([^"]*)"/g)].map(([, url]) => url!)
    expect(loaded.filter((url) => !url.startsWith('data:'))).toEqual([
      `docs${themeFile.place}`,
      expect.stringMatching(/^docs\/fonts\/inter-[\w-]{8}\.woff2$/),
      ...['docs/style.css', 'docs/frame.js', 'docs/try.js'],
    ])
    expect(text).not.toMatch(/<script[^>]*>[^<]|<style|style=|\son\w+=/)
    const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
    for (const [, id] of text.matchAll(/ href="#([^"]+)"/g)) expect(ids).toContain(id)
    const links = [...text.matchAll(/<a href="([^"#]+)[^"]*"/g)].map(
      ([, url]) => new URL(url!, `http://${api}.test/v1/docs`),
    )
    expect(links.length).toBeGreaterThan(4)
    for (const { host, pathname } of links)
      expect([pathname, (await get(host, pathname)).status]).toEqual([pathname, 200])
  })

  it.each(paths)('is within its budget: %s', async (path) => {
    const { text } = await get(`${api}.test`, path)
    expect(transferred(text)).toBeLessThan(MAX_PAGE_BYTES)
    if (scripts.includes(path)) expect(Buffer.byteLength(text)).toBeLessThan(MAX_SCRIPT_BYTES)
  })

  it('marks the current item of the sidebar by the style sheet', async () => {
    const [{ text: page }, { text: style }] = await Promise.all([
      get(`${api}.test`, '/v1/docs'),
      get(`${api}.test`, '/v1/docs/style.css'),
    ])
    for (const [, id] of page.matchAll(/<section class="operation" id="([^"]+)"/g))
      expect(style).toContain(`body:has(#${id}:target) .pages [href$='#${id}']`)
  })
})

describe('a file of the reference', () => {
  it.each(paths)('has the strict policy, an ETag and 304: %s', async (path) => {
    const headers = await expectStored(path)
    expect(headers['content-security-policy']).toBe(policy(' http://auth.test/v1/oauth/'))
    expect(headers['content-type']).toMatch(/^(?:text\/(?:html|javascript|css)); charset=utf-8$/)
  })

  it('is compressed for who accepts that, with an ETag of its own', () => expectCompressed('/v1/docs'))

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is not there for %s', async (method) => {
    expect(await get('lms.test', '/v1/docs', {}, method)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    })
  })

  it.each([
    ['plain.test', '/v1/docs'],
    ['auth.test', '/v1/docs'],
    ['apps.test', '/v1/docs/'],
    ['apps.test', '/v1/docs/page.ts'],
    ['apps.test', '/v1/docs/constructor'],
    ['apps.test', '/v1/llms.txt'],
  ])('is only where it is said to be: not at %s%s', async (host, path) => {
    expect((await get(host, path)).status).toBe(404)
  })
})

it('the reference with an external issuer signs nobody in, and connects nowhere else', async () => {
  const { text, headers } = await askExternal('/v1/docs')
  expect(headers['content-security-policy']).toBe(policy())
  expect(text).toContain('data-issuer=""')
})

it.each(apis)('the reference at localhost is that of %s, with the addresses of localhost', async (api) => {
  const local = await get('localhost:3000', `/${api}/v1/docs`)
  expect(local.status).toBe(200)
  expect(local.text).toContain(`<code class="address">${localUrls[api]}</code>`)
  for (const other of apis) expect(local.text).toContain(`href="${localUrls[other]}/docs"`)
  const own = await get(`${api}.test`, '/v1/docs')
  expect(own.text).toContain(`<code class="address">http://${api}.test/v1</code>`)
  for (const path of ['errors', 'frame.js', 'code.js', 'try.js', 'style.css'])
    expect((await get('localhost:3000', `/${api}/v1/docs/${path}`)).status).toBe(200)
})

it.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000'])(
  'the reference at %s may call what it names',
  async (host) => {
    const { headers, text } = await get(host, '/apps/v1/docs')
    const [, base] = /data-base="([^"]+)"/.exec(text)!
    const [, sources] = /connect-src ([^;]+);/.exec(String(headers['content-security-policy']))!
    const allowed = sources!.split(' ').map((one) => (one === "'self'" ? `http://${host}/` : one))
    expect(base).toBe(localUrls.apps)
    expect(allowed.some((one) => `${base}/`.startsWith(one))).toBe(true)
  },
)

it.each(apis)('the errors of %s come before those of other APIs and of tRPC', async (api) => {
  const { text } = await get(`${api}.test`, '/v1/docs/errors')
  const [own, others] = text.split('<h2 id="elsewhere">')
  const listPlaces = (part: string) =>
    [...part.matchAll(/<h3><a href="#\w+">\w+<\/a> <small>([^<]*)<\/small>/g)].map(([, place]) => place!)
  const isOwn = (place: string) => place === 'every API' || place.split(/, | and /).includes(api)
  const [ownPlaces, otherPlaces] = [listPlaces(own!), listPlaces(others!)]
  expect(ownPlaces.length + otherPlaces.length).toBe(errorCatalogue().length)
  expect(ownPlaces.filter((place) => !isOwn(place))).toEqual([])
  expect(otherPlaces.filter(isOwn)).toEqual([])
})

it.each(apis)('the error catalogue has a row for each error at %s, with its body as it is sent there', async (api) => {
  const { text } = await get(`${api}.test`, '/v1/docs/errors')
  for (const { id, error, cause } of errorCatalogue()) {
    const [, row] = new RegExp(`<section class="error" id="${id}">(.*?)</section>`, 's').exec(text)!
    expect(row).toContain(inText(error.message))
    expect(row).toContain(escaped(cause))
  }
  expect(text.match(/<section class="error"/g)).toHaveLength(Object.keys(errors).length)
  const missing = await get(`${api}.test`, '/v1/nowhere')
  const sent = JSON.stringify(missing.body).replace(missing.headers['x-request-id'] as string, '3f0c9a52')
  expect(text.replace(/<\/?span[^>]*>/g, '')).toContain(inText(sent))
})

describe('/llms.txt', () => {
  it.each(['plain.test', 'apps.test', 'lms.test', 'auth.test'])('is at %s and leads to what is there', async (host) => {
    const { status, headers, text } = await get(host, '/llms.txt')
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toMatch(/^# .+\n\n> .+\n/)
    const links = [...text.matchAll(/(?:\]\(|metadata: )(http[^)\s]+)/g)].map(([, url]) => new URL(url!))
    expect(links).toHaveLength(7 + renderedDocs.read().pages.length - 1)
    for (const { host: at, pathname } of links)
      expect([pathname, (await get(at, pathname)).status]).toEqual([pathname, 200])
  })

  it.each(['localhost:3000', '127.0.0.1:3000'])(
    'and the documentation name the addresses of localhost at %s',
    async (host) => {
      const { text } = await get(host, '/llms.txt')
      const links = [...text.matchAll(/(?:\]\(|Base address |metadata: |issuer )(http[^)\s;]+)/g)].map(
        ([, url]) => url!,
      )
      expect(links.length).toBeGreaterThan(10)
      for (const link of links) {
        expect(link).toMatch(/^http:\/\/localhost:3000\//)
        if (/docs|\.json|well-known/.test(link))
          expect([link, (await get('localhost:3000', new URL(link).pathname)).status]).toEqual([link, 200])
      }
      for (const path of ['/docs', '/docs/search?q=token']) {
        const page = await get(host, path)
        expect([path, page.text]).toEqual([path, expect.stringContaining('http://localhost:3000/apps/v1/docs')])
      }
    },
  )

  it('names no issuer that is not ours', async () => {
    const { text } = await askExternal('/llms.txt', {}, 'plain.test')
    expect(text).not.toMatch(/auth\.test|PKCE/)
  })
})

const inText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const escaped = (text: string) => inText(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')
