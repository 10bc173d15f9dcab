import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { answerIn } from '../../clients/sdk/answer.ts'
import type { TokenStore } from '../../clients/sdk/token-store.ts'
import { stubSessionStorage } from '../clients/page-stubs.ts'
import { times } from '../support/rounds.ts'

const issuer = 'https://auth.example.org/v1/oauth'
const NAMES = ['state', 'iss', 'code', 'error', 'error_description', 'error_uri', 'page', 'q', '', '%zz', 'st%61te']
const VALUES = ['', 'BY', 'a%20b', 'a+b', '50%', encodeURIComponent('https://accounts.example.com'), '=', 'x=y']

/** A page's own parameters as written; never an answer, as `iss` is another's. */
const own = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)).map(([name, value]) => `${name}=${value}`),
    fc.constantFrom(...NAMES),
  ),
  { maxLength: 6 },
)
const hash = fc.constantFrom('', '#', '#/route?state=x&code=y')
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const answer = fc.oneof(
  fc.record({ state: text, iss: fc.constant(issuer), code: text }),
  fc.record({ state: text, iss: fc.constant(issuer), error: text, error_description: text }),
)
const toAddress = (parts: string[], after: string) =>
  `https://app.example/cb${parts.length > 0 ? `?${parts.join('&')}` : ''}${after}`

it("finds no answer in a page's own parameters", () => {
  const holds = (parts: string[], after: string) => {
    expect(answerIn(toAddress(parts, after), issuer)).toBeUndefined()
  }
  fc.assert(fc.property(own, hash, holds), { numRuns: times(5_000, 500) })
})

it('finds the answer after them, and leaves them as they are written', () => {
  const holds = (parts: string[], fields: Record<string, string>, after: string) => {
    const sent = new URLSearchParams(fields)
    const found = answerIn(toAddress([...parts, sent.toString()], after), issuer)
    expect(found?.without).toBe(toAddress(parts, after))
    expect([found!.state, Object.fromEntries(found!.parameters)]).toEqual([fields.state, Object.fromEntries(sent)])
  }
  // A description of the page's own is not that of the answer.
  const unlike = (part: string) => !part.startsWith('error_')
  const given = own.map((parts) => parts.filter(unlike))
  fc.assert(fc.property(given, answer, hash, holds), { numRuns: times(5_000, 500) })
})

/** IndexedDB as far as tokens need it. `open` decides what each opening does. */
function stubIndexedDb(open: (attempt: number) => 'works' | 'throws' | 'fails' | 'silent' | 'aborts') {
  const texts = new Map<string, string>()
  const asked = <Result>(result: Result) => ({ result, error: null, onsuccess: null, onerror: null })
  let attempts = 0
  const database = (does: string) => ({
    createObjectStore: () => {},
    close: () => {},
    transaction() {
      const transaction = {
        error: new Error('aborted'),
        oncomplete: () => {},
        onabort: () => {},
        objectStore: () => ({
          get: (name: string) => asked(texts.get(name)),
          put: (text: string, name: string) => asked(does === 'aborts' || texts.set(name, text)),
          delete: (name: string) => asked(texts.delete(name)),
        }),
      }
      queueMicrotask(() => (does === 'aborts' ? transaction.onabort() : transaction.oncomplete()))
      return transaction
    },
  })
  vi.stubGlobal('indexedDB', {
    open() {
      const does = open(attempts++)
      if (does === 'throws') throw new DOMException('The operation is insecure.', 'SecurityError')
      const asked = { result: database(does), error: new Error('failed'), onsuccess: () => {}, onerror: () => {} }
      if (does === 'fails') queueMicrotask(() => asked.onerror())
      else if (does !== 'silent') queueMicrotask(() => asked.onsuccess())
      return asked
    },
  })
  return { texts, attempts: () => attempts }
}

let store: TokenStore
beforeEach(async () => {
  vi.resetModules()
  store = (await import('../../clients/sdk/token-store.ts')).sharedStore
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
  // Files share a worker's modules: the store that worked once tries for 250 ms before each answer of the next file.
  vi.resetModules()
})

async function works() {
  expect(await store.getItem('n')).toBeNull()
  await store.setItem('n', 'text')
  expect(await store.getItem('n')).toBe('text')
  await store.setItem('n', 'other')
  expect(await store.getItem('n')).toBe('other')
  await store.removeItem('n')
  expect(await store.getItem('n')).toBeNull()
}

it.each(['throws', 'fails', 'aborts'] as const)('tries again where an opening %s once', async (how) => {
  const { texts } = stubIndexedDb((attempt) => (attempt % 2 === 0 ? how : 'works'))
  const tab = stubSessionStorage()
  await store.setItem('n', 'text')
  expect([texts.get('n'), tab.texts.size]).toEqual(['text', 0])
  await store.removeItem('n')
  await works()
})

it.each(['throws', 'fails'] as const)('keeps the tokens in the tab where each opening %s', async (how) => {
  const tab = stubSessionStorage()
  const { attempts } = stubIndexedDb(() => how)
  await works()
  await store.setItem('n', 'text')
  expect(tab.texts.get('n')).toBe('text')
  // Nothing that never worked is asked again and again.
  expect(attempts()).toBe(3)
})

it('keeps the tokens in the page where nothing can be stored', async () => {
  await works()
  Object.defineProperty(globalThis, 'sessionStorage', {
    configurable: true,
    get() {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    },
  })
  try {
    await works()
  } finally {
    delete (globalThis as { sessionStorage?: unknown }).sessionStorage
  }
})

it('keeps the tokens in the tab where IndexedDB is silent, and waits for it once', async () => {
  vi.useFakeTimers()
  const { attempts } = stubIndexedDb(() => 'silent')
  stubSessionStorage()
  const done = works()
  await vi.advanceTimersByTimeAsync(3_000)
  await done
  expect(attempts()).toBe(1)
})

it('rejects reads and removals, and keeps what is stored, where IndexedDB fails after it has worked', async () => {
  let how: 'fails' | 'works' = 'works'
  const { texts } = stubIndexedDb(() => how)
  stubSessionStorage()
  await store.setItem('n', 'text')
  how = 'fails'
  await expect(store.getItem('n')).rejects.toThrow('failed')
  await expect(store.removeItem('n')).rejects.toThrow('failed')
  expect(texts.get('n')).toBe('text')
})

it('asks IndexedDB again where it has worked and is silent once', async () => {
  let how: 'silent' | 'works' = 'works'
  stubIndexedDb(() => how)
  const tab = stubSessionStorage()
  await store.setItem('n', 'text')
  vi.useFakeTimers()
  how = 'silent'
  const read = store.getItem('n')
  how = 'works'
  await vi.advanceTimersByTimeAsync(3_050)
  expect([await read, tab.texts.size]).toEqual(['text', 0])
})

it('returns to IndexedDB once it can be written again, and reads what was written last', async () => {
  let how: 'fails' | 'works' = 'works'
  const { texts } = stubIndexedDb(() => how)
  const tab = stubSessionStorage()
  await works()
  how = 'fails'
  await store.setItem('n', 'first')
  how = 'works'
  expect(await store.getItem('n')).toBe('first')
  await store.setItem('n', 'second')
  expect([texts.get('n'), tab.texts.has('n'), await store.getItem('n')]).toEqual(['second', false, 'second'])
})
