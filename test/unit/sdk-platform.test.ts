import fc from 'fast-check'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserSignIn } from '../../clients/sdk/browser.ts'
import type { Client } from '../../clients/sdk/client.ts'
import { createClient, PlatformLacks } from '../../clients/sdk/client.ts'
import { signedRequest, verifyWebhook } from '../../clients/sdk/webhooks.ts'
import { stubPage } from '../clients/page-stubs.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'

const issuer = 'https://auth.example.org/v1/oauth'
const redirectUri = 'https://app.example/'
const scope = 'svc.me.profile:read'
const [OwnURL, OwnResponse] = [URL, Response]

/** What the services answer; nothing here needs the platform's functions but where `Response` is asked for. */
const answers: Record<string, unknown> = {
  '/.well-known/oauth-authorization-server/v1/oauth': {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    authorization_response_iss_parameter_supported: true,
  },
  '/v1/oauth/token': { access_token: 'a2', refresh_token: 'r2', token_type: 'bearer', expires_in: 900 },
  '/v1/': { api: 'apps', organisation: 'club' },
  '/v1/collections/c/changes': { items: [{ key: 'k', value: 1, updatedAt: 1, etag: '"e"' }], cursor: 'x', more: false },
}
const toPath = (address: string) => address.replace(/^https:\/\/[^/]+/, '').replace(/\?.*/, '')

/** A fetch like that of React Native: an object without a body that streams. A wait for a change is not answered. */
const plainFetch = (async (url: string) => {
  if (/[?&]wait=/.test(url)) await new Promise(() => {})
  const text = JSON.stringify(answers[toPath(String(url))] ?? { url: String(url) })
  return { ok: true, status: 200, url, headers: { get: () => '"e"' }, text: async () => text }
}) as unknown as typeof fetch
/** Does not stream: how Node reads a stream is its own affair. */
class WholeResponse extends OwnResponse {
  readonly #value: unknown
  constructor(value: unknown) {
    super(null, { headers: { 'content-type': 'application/json' } })
    this.#value = value
  }
  override json = async () => this.#value
}
const pageFetch = async (url: string) => new WholeResponse(answers[toPath(url)])

const client = (more: object = {}) =>
  createClient({
    apps: 'https://a.example/v1',
    lms: 'https://l.example/v1',
    sync: 'https://s.example/v1',
    tokens: 'token',
    fetch: plainFetch,
    ...more,
  })

class NoSuchThing extends Error {}
const thrower = () => {
  throw new NoSuchThing('Not implemented.')
}

type Lacking = (readonly [string, 'undefined' | 'throws'])[]

/** Removes a global or a field of one, in one of the ways in which platforms lack it. Returns what restores it. */
function remove(feature: string, how: 'undefined' | 'throws'): () => void {
  const names = feature.split('.')
  const last = names.pop()!
  let holder: object | undefined = globalThis
  try {
    for (const name of names) holder = (holder as Record<string, object>)[name]
  } catch {
    return () => {}
  }
  if (!holder) return () => {}
  const target = holder
  const before = Object.getOwnPropertyDescriptor(target, last)
  const value = how === 'throws' && names.length > 0 ? thrower : undefined
  const isGetter = how === 'throws' && names.length === 0 && ['sessionStorage', 'indexedDB'].includes(last)
  Object.defineProperty(target, last, {
    configurable: true,
    ...(isGetter ? { get: thrower } : { value, writable: true }),
  })
  return () => {
    if (before) Object.defineProperty(target, last, before)
    else delete (target as Record<string, unknown>)[last]
  }
}

async function without<Result>(features: Lacking, work: () => Promise<Result>) {
  const rejected: unknown[] = []
  const note = (reason: unknown) => void rejected.push(reason)
  process.on('unhandledRejection', note)
  const restored = features.map(([feature, how]) => remove(feature, how))
  try {
    return await work()
  } finally {
    for (const restore of restored.reverse()) restore()
    // They are reported after the microtasks of a turn.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(rejected).toEqual([])
  }
}

const FEATURES = [
  ...['AbortSignal.any', 'AbortSignal.timeout', 'AbortController', 'AbortSignal', 'Event'],
  // Deno's own AbortController makes its reason with the global.
  ...('Deno' in globalThis ? [] : ['DOMException']),
  ...['crypto', 'crypto.randomUUID', 'crypto.subtle', 'crypto.getRandomValues', 'btoa', 'atob', 'structuredClone'],
  ...['URL', 'URL.canParse', 'URL.prototype.searchParams', 'URLSearchParams'],
  ...['URLSearchParams.prototype.set', 'TextEncoder', 'TextDecoder', 'TextDecoderStream', 'ReadableStream'],
  ...['Headers', 'Response', 'Request', 'fetch', 'queueMicrotask', 'navigator', 'indexedDB', 'sessionStorage'],
  ...['sessionStorage.getItem', 'sessionStorage.setItem', 'history', 'history.replaceState', 'location'],
  ...['addEventListener', 'removeEventListener', 'document', 'EventTarget', 'performance'],
] as const

/** Members that exist and throw: storage that is not allowed, and React Native's stubs. */
const THROWING: readonly string[] = [
  ...['URL.prototype.searchParams', 'URLSearchParams.prototype.set', 'crypto.randomUUID', 'indexedDB'],
  ...['sessionStorage', 'sessionStorage.getItem', 'sessionStorage.setItem', 'history.replaceState'],
]

const lacking = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom(...FEATURES), fc.boolean())
    .map(([feature, throws]) => [feature, throws && THROWING.includes(feature) ? 'throws' : 'undefined'] as const),
  { minLength: 1, maxLength: 6, selector: ([feature]) => feature },
)

/** One sentence of the SDK's own. */
function expectOwn(error: unknown) {
  expect(error).toBeInstanceOf(PlatformLacks)
  expect((error as Error).message).toMatch(/^\w.*[^.]\.$/)
}
const outcome = async (work: () => Promise<unknown>) => {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  }
}

afterEach(() => void vi.unstubAllGlobals())

const signIn = (store?: object) =>
  browserSignIn({ issuer, clientId: 'app', redirectUri, scope, ...(store && { store: store as never }) })

const fullAnswer = (begun: string) => {
  const state = /[?&]state=([^&]+)/.exec(begun)![1]
  return `${redirectUri}?code=c&state=${state}&iss=${encodeURIComponent(issuer)}`
}

describe('without random functions of the platform', () => {
  // A round takes 2 ms: one that hangs is a failure that names its seed and what was lacking.
  const runs = { numRuns: times(3_000, 300), seed, timeout: 20_000, endOnFailure: true }

  it('calls work', async () => {
    const holds = (features: Lacking) =>
      without(features, async () => {
        const api = client()
        expect(await api.root()).toMatchObject({ api: 'apps' })
        expect(await api.quizzes.submit('q', { a: 'b' })).toMatchObject({
          url: 'https://l.example/v1/quizzes/q/results',
        })
        const collection = api.storage('c', { scope: 'user' })
        const url = 'https://a.example/v1/storage/c/k?scope=user'
        expect(await collection.put('k', 1, { ifNoneMatch: '*' })).toMatchObject({ url })
        expect(await collection.update('k', () => 2)).toMatchObject({ url })
      })
    await fc.assert(fc.asyncProperty(lacking, holds), runs)
  })

  it('a live collection is filled, or ended with one sentence', async () => {
    const holds = (features: Lacking) =>
      without(features, async () => {
        const live = client().storage('c').live()
        const stop = await new Promise<() => void>((resolve) => {
          const stop = live.subscribe(() => resolve(() => stop()))
        })
        stop()
        if (live.state === 'ended') expectOwn(live.error)
        else expect([live.state, live.entries.size, live.error]).toEqual(['current', 1, undefined])
        const isWhole = features.every(([feature]) => feature !== 'AbortController')
        expect(live.state).toBe(isWhole ? 'current' : 'ended')
      })
    await fc.assert(fc.asyncProperty(lacking, holds), runs)
  })

  it('a page signs in, or says in one sentence why not before it is left', async () => {
    const holds = async (features: Lacking) => {
      const { left, location, sessionStorage } = stubPage(redirectUri, pageFetch)
      await without(features, async () => {
        const auth = signIn()
        expect(await auth.finish()).toBeUndefined()
        expect([await auth.isSignedIn(), await auth.scopes()]).toEqual([false, []])
        const begun = await outcome(() => auth.signIn())
        if (begun.error) {
          expectOwn(begun.error)
          expect(left).toEqual([])
          return
        }
        Object.assign(location, { href: fullAnswer(left[0]!) })
        expect(await auth.finish()).toBe(redirectUri)
        expect([await auth.tokens(), await auth.tokens('a2')]).toEqual(['a2', 'a2'])
        await auth.signOut()
        expect(await auth.isSignedIn()).toBe(false)
      })
      expect(sessionStorage.texts.has('member-apps app')).toBe(false)
      vi.unstubAllGlobals()
    }
    await fc.assert(fc.asyncProperty(lacking, holds), runs)
  })

  it('a webhook is verified, or one sentence says why not', async () => {
    const request = await signedRequest('https://r.example/', 's', { type: 't', data: 1 })
    const [body, headers] = [await request.text(), Object.fromEntries(request.headers)]
    const holds = (features: Lacking) =>
      without(features, async () => {
        const { value, error } = await outcome(() => verifyWebhook(body, headers, 's'))
        if (error) expectOwn(error)
        else expect(value).toMatchObject({ type: 't' })
      })
    await fc.assert(fc.asyncProperty(lacking, holds), runs)
  })
})

it('signIn() says that it works at https or localhost only, at an address without secure context', async () => {
  const { left } = stubPage(redirectUri, pageFetch)
  vi.stubGlobal('isSecureContext', false)
  const found = await without([['crypto.subtle', 'undefined']], () => outcome(() => signIn().signIn()))
  expect(found.error).toMatchObject({
    name: 'PlatformLacks',
    feature: 'crypto.subtle.digest',
    message: 'Sign-in works at https or localhost only: at other addresses browsers have no crypto.subtle.digest.',
  })
  expect(left).toEqual([])
})

/** React Native's own URL, as of its Libraries/Blob/URL.js: it adds a slash, and throws for what it does not implement. */
class NativeURL {
  readonly #url: string
  constructor(url: string) {
    this.#url = url.endsWith('/') ? url : `${url}/`
  }
  get href() {
    return this.#url
  }
  get searchParams() {
    return { set: thrower, get: thrower }
  }
  toString = () => this.#url
}

it("calls have the right address with React Native's own URL, also as the base", async () => {
  vi.stubGlobal('URL', NativeURL)
  const api: Client = client({ apps: new NativeURL('https://a.example/v1') })
  const page = (await api.storage('c').list({ limit: 5 })) as unknown as { url: string }
  expect(page.url).toBe('https://a.example/v1/storage/c?limit=5')
  expect(new OwnURL(page.url).pathname).toBe('/v1/storage/c')
})

it('a call without any fetch is rejected with one sentence', async () => {
  vi.stubGlobal('fetch', undefined)
  const { error } = await outcome(() => client({ fetch: undefined }).root())
  expectOwn(error)
})

it('aborts with an Error where signals have no reason', async () => {
  const controller = new AbortController()
  Object.defineProperty(controller.signal, 'reason', { value: undefined })
  const refused = new OwnResponse('{}', { status: 429, headers: { 'retry-after': '5' } })
  const api = client({ fetch: async () => refused.clone() })
  const call = api.root({ signal: controller.signal })
  setImmediate(() => controller.abort())
  await expect(call).rejects.toMatchObject({ name: 'AbortError', message: 'The call was aborted.' })
})

it('a listener that throws ends the live collection, without an unhandled rejection', async () => {
  await without([], async () => {
    const live = client().storage('c').live()
    onTestFinished(
      live.subscribe(() => {
        throw new Error('of the app')
      }),
    )
    await expect.poll(() => live.state).toBe('ended')
    expect(live.error).toMatchObject({ message: 'of the app' })
  })
})
