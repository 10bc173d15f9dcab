import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { authWorld } from '../oauth/auth-world.ts'
import type { Reply } from '../support/request.ts'
import { send } from '../support/request.ts'

const auth = authWorld()

const chromium = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const nothingHere = { code: 'not_found', message: 'There is nothing at this address.' }

const ask = (host: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(auth.world.publicPort, method, path, { headers: { host, ...headers } })
const browse = (host: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(host, path, { accept: chromium, ...headers }, method)

function expectPage({ status, headers, text }: Reply, expected: number) {
  expect({ status, type: headers['content-type'] }).toEqual({ status: expected, type: 'text/html; charset=utf-8' })
  expect(headers.vary).toBe('Accept, Accept-Language')
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['cache-control']).toBe('no-store')
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  )
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  expect(headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/)
  expect(text).toMatch(/^<!doctype html>\n/)
  expect(text).not.toContain('<script')
}

/** The envelope that the host's API has for a path without anything. */
function expectEnvelope({ status, headers, body }: Reply, form: 'detail' | 'error') {
  expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'application/json; charset=utf-8' })
  const error = { ...nothingHere, request_id: headers['x-request-id'] }
  expect(body).toEqual(form === 'detail' ? { detail: nothingHere.message } : { error })
  expect(headers['access-control-allow-origin']).toBe('*')
}

it.each([
  [chromium, true],
  ['text/html', true],
  ['Text/HTML', true],
  ['application/json;q=0.9, text/html', true],
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/html', false],
  ['text/html;q=0.5, application/json', false],
  ['text/html;q=0.5, */*;q=0.9', false],
  ['text/html;q=0', false],
  [',;q=1,,', false],
])('what a client accepts decides about a page: %j gets one: %j', async (accept, isPage) => {
  const headers: Record<string, string> = accept === undefined ? {} : { accept }
  const [root, unknown] = await Promise.all([ask('plain.test', '/', headers), ask('plain.test', '/nowhere', headers)])
  if (isPage) {
    expectPage(root, 200)
    expectPage(unknown, 404)
    return
  }
  for (const reply of [root, unknown]) {
    expectEnvelope(reply, 'error')
    expect(reply.headers.vary).toBe('Accept')
  }
})

it('a longer Accept than browsers send of more than 1,024 characters gets no page', async () => {
  const accept = (length: number) => `text/html, text/${'x'.repeat(length - 16)}`
  expectPage(await ask('plain.test', '/', { accept: accept(1_024) }), 200)
  expectEnvelope(await ask('plain.test', '/', { accept: accept(1_025) }), 'error')
})

describe('the page at /', () => {
  it('names each API with base address, reference and OpenAPI document, the errors, and the page of connected apps', async () => {
    const reply = await browse('plain.test', '/')
    expectPage(reply, 200)
    for (const api of ['apps', 'lms', 'notify', 'sync']) {
      expect(reply.text).toContain(`>http://${api}.test/v1</code>`)
      expect(reply.text).toContain(`href="http://${api}.test/v1/docs"`)
      expect(reply.text).toContain(`href="http://${api}.test/v1/openapi.json"`)
    }
    expect(reply.text).toContain('href="http://apps.test/v1/docs/errors"')
    expect(reply.text).toContain('href="/docs"')
    expect(reply.text).toContain('href="/llms.txt"')
    expect(reply.text).toContain('href="http://auth.test/v1/oauth/connected"')
  })

  it('outside the trial has neither hints for developers nor a version', async () => {
    const { text, headers } = await browse('plain.test', '/')
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    const shown = text.replace(/<style>[^<]*<\/style>|<svg.*?<\/svg>|href="data:[^"]*"/g, '')
    expect(shown).not.toMatch(/npm|docs\/apps\.md|example\.|localhost|127\.0\.0\.1|koa|node|postgres/i)
    expect(shown).not.toContain(version)
    expect(headers).not.toHaveProperty('server')
    expect(headers).not.toHaveProperty('x-powered-by')
  })

  it('does not repeat the host of the request', async () => {
    const { text } = await browse('"><script>.evil.test', '/')
    expect(text).not.toContain('evil')
  })

  it('is answered to HEAD with the headers of GET', async () => {
    const [get, head] = await Promise.all([
      browse('plain.test', '/', { 'x-request-id': 'one' }),
      browse('plain.test', '/', { 'x-request-id': 'one' }, 'HEAD'),
    ])
    const { date: _one, ...expected } = get.headers
    const { date: _other, ...headers } = head.headers
    expect({ status: head.status, text: head.text, headers }).toEqual({ status: 200, text: '', headers: expected })
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('is not there for %s', async (method) => {
    expectEnvelope(await browse('plain.test', '/', {}, method), 'error')
  })
})

describe('an unknown address in a browser', () => {
  it.each([
    ['plain.test', '/nowhere', 'href="/"'],
    ['apps.test', '/', 'href="http://apps.test/v1/docs"'],
    ['lms.test', '/help', 'href="http://lms.test/v1/openapi.json"'],
    ['auth.test', '/', 'href="http://auth.test/v1/oauth/connected"'],
    ['auth.test', '/v1/oauth/conected', 'href="http://auth.test/v1/oauth/connected"'],
  ])('at %s%s is a page with a way back, of status 404', async (host, path, link) => {
    const reply = await browse(host, path, { 'x-request-id': 'my-request' })
    expectPage(reply, 404)
    expect(reply.headers['x-request-id']).toBe('my-request')
    expect(reply.text).toContain('<code>my-request</code>')
    expect(reply.text).toContain(link)
    expectEnvelope(await ask(host, path), host === 'apps.test' ? 'detail' : 'error')
  })

  it.each([
    ['apps.test', '/v1/unknown', 'detail'],
    ['notify.test', '/v1//', 'error'],
    ['sync.test', '/v1/collections/', 'error'],
    ['auth.test', '/v1/oauth', 'error'],
    ['plain.test', '/v1/openapi.json', 'error'],
    ['plain.test', '/v1/oauthx', 'error'],
  ] as const)('below /v1 keeps its envelope: %s%s', async (host, path, form) => {
    const reply = await browse(host, path)
    expectEnvelope(reply, form)
    expect(reply.headers).not.toHaveProperty('vary')
  })

  it('leaves other errors below a page’s address as they are', async () => {
    const wrongHost = await browse('plain.test', '/v1/me/profile')
    expect(wrongHost).toMatchObject({ status: 404, body: { detail: 'This API answers at apps.test.' } })
    const noToken = await browse('apps.test', '/v1/me/profile')
    expect(noToken).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } })
    const wrongMethod = await browse('auth.test', '/v1/oauth/token')
    expect(wrongMethod).toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } })
  })
})
