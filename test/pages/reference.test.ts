import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorCatalogue } from '../../routers/kernel/error-catalogue.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { startAuthWorld } from '../oauth/auth-world.ts'
import { indexLines } from '../support/index-lines.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { renderedDocs } from '../support/rendered-docs.ts'
import { send } from '../support/request.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { expectCompressed, expectStored, getAt } from './stored-file.ts'

const localUrls = localUrlsAt('http://localhost:3000')
let auth: AuthWorld
let external: World
beforeAll(async () => {
  ;[auth, external] = await Promise.all([startAuthWorld({ localUrls }), startWorld()])
})
afterAll(() => Promise.all([auth.world.close(), external.close()]))

type Headers = Record<string, string>
const get = (host: string, path: string, headers: Headers = {}, method = 'GET') =>
  getAt(auth.world.publicPort, host, path, headers, method)
const apis = ['apps', 'lms', 'notify', 'sync'] as const
const scripts = ['/v1/docs/frame.js', '/v1/docs/code.js', '/v1/docs/try.js']
const paths = ['/v1/docs', '/v1/docs/errors', '/v1/docs/style.css', '/v1/docs/search.json', ...scripts]
const MAX_PAGE_BYTES = 60_000
const MAX_SCRIPT_BYTES = 20_000
const policy = (more = '') =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'${more}; ` +
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

describe.each(apis)('the reference of %s', (api) => {
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
    expect(loaded.filter((url) => !url.startsWith('data:'))).toEqual(['docs/style.css', 'docs/frame.js', 'docs/try.js'])
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
    expect(Buffer.byteLength(text)).toBeLessThan(scripts.includes(path) ? MAX_SCRIPT_BYTES : MAX_PAGE_BYTES)
  })

  it('has an index of its operations, errors, schemas and fields that leads to what is there', async () => {
    const { body: index } = await get(`${api}.test`, '/v1/docs/search.json')
    const { body: document } = await get(`${api}.test`, '/v1/openapi.json')
    const address = `http://${api}.test/v1/docs/search.json`
    const texts = new Map<string, string>()
    const kinds = new Map<string, string[]>()
    for (const [page, id, heading] of index.sections as [number, string, string][]) {
      const [to, kind] = index.pages[page]
      const { pathname } = new URL(to, address)
      if (!texts.has(pathname)) texts.set(pathname, (await get(`${api}.test`, pathname)).text)
      expect(texts.get(pathname)).toContain(` id="${id}"`)
      kinds.set(kind, [...(kinds.get(kind) ?? []), heading])
    }
    const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => `${method.toUpperCase()} ${path} · ${summary}`),
    )
    expect(kinds.get('Operation')).toEqual(operations)
    expect(kinds.get('Error')).toHaveLength(errorCatalogue().length)
    expect(kinds.get('Schema')).toEqual(['ApiError', 'Detail'].filter((name) => name in document.components.schemas))
    expect(kinds.get('Header')).toContain(`X-Request-Id · ${operations[0]!.split(' · ')[0]}`)
    const scopes = Object.keys(document.components.securitySchemes.member.flows.authorizationCode.scopes)
    const parts = scopes.flatMap((scope) => scope.toLowerCase().split(/[.:]/)).filter((part) => part.length > 3)
    const words = indexLines(index).map((line) => line.split(' ')[0])
    expect(words).toEqual(expect.arrayContaining(parts))
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
    const headers = await expectStored(auth.world.publicPort, path)
    expect(headers['content-security-policy']).toBe(policy(' http://auth.test/v1/oauth/'))
    expect(headers['content-type']).toMatch(/^(?:text\/(?:html|javascript|css)|application\/json); charset=utf-8$/)
  })

  it('is compressed for who accepts that, with an ETag of its own', () =>
    expectCompressed(auth.world.publicPort, '/v1/docs'))

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

describe('the reference with an external issuer', () => {
  it('signs nobody in, and connects nowhere else', async () => {
    const { text, headers } = await send(external.publicPort, 'GET', '/v1/docs', { headers: { host: 'apps.test' } })
    expect(headers['content-security-policy']).toBe(policy())
    expect(text).toContain('data-issuer=""')
  })
})

describe('the reference at localhost', () => {
  it.each(apis)('is that of %s, with the addresses of localhost', async (api) => {
    const local = await get('localhost:3000', `/${api}/v1/docs`)
    expect(local.status).toBe(200)
    expect(local.text).toContain(`<code class="address">${localUrls[api]}</code>`)
    for (const other of apis) expect(local.text).toContain(`href="${localUrls[other]}/docs"`)
    const own = await get(`${api}.test`, '/v1/docs')
    expect(own.text).toContain(`<code class="address">http://${api}.test/v1</code>`)
    for (const path of ['errors', 'search.json', 'frame.js', 'code.js', 'try.js', 'style.css'])
      expect((await get('localhost:3000', `/${api}/v1/docs/${path}`)).status).toBe(200)
  })
})

describe('the error catalogue', () => {
  it.each(apis)('has a row for each error at %s, with its body as it is sent there', async (api) => {
    const { text } = await get(`${api}.test`, '/v1/docs/errors')
    for (const { id, error, cause } of errorCatalogue()) {
      const [, row] = new RegExp(`<section class="error" id="${id}">(.*?)</section>`, 's').exec(text)!
      expect(row).toContain(inText(error.message))
      expect(row).toContain(escaped(cause))
    }
    expect(text.match(/<section class="error"/g)).toHaveLength(Object.keys(errors).length)
    const missing = await get(`${api}.test`, '/v1/nowhere')
    const sent = JSON.stringify(missing.body).replace(missing.headers['x-request-id'] as string, '3f0c9a52')
    expect(text).toContain(inText(sent))
  })
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

  it('names no issuer that is not ours', async () => {
    const { text } = await send(external.publicPort, 'GET', '/llms.txt', { headers: { host: 'plain.test' } })
    expect(text).not.toMatch(/auth\.test|PKCE/)
  })
})

const inText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const escaped = (text: string) => inText(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')
