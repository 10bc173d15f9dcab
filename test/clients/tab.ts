import { onTestFinished, vi } from 'vitest'
import type { TokenStore } from '../../clients/sdk/token-store.ts'
import { redirectUri } from '../oauth/auth-world.ts'
import type { Browser } from '../oauth/browser.ts'

const memory = () => {
  const texts = new Map<string, string>()
  const store: TokenStore & { getItem(name: string): string | null } = {
    getItem: (name) => texts.get(name) ?? null,
    setItem: (name, text) => void texts.set(name, text),
    removeItem: (name) => void texts.delete(name),
  }
  return Object.assign(store, { texts })
}

/** What a page has of its browser, for the rest of a test. `left` has the addresses to which it was sent. */
export function openTab(app: Browser, address = redirectUri) {
  const left: string[] = []
  const requests: string[] = []
  const location = { href: address, assign: (url: string) => void left.push(url) }
  const history = {
    replaceState: (_state: unknown, _unused: string, href: string) => Object.assign(location, { href }),
  }
  const sessionStorage = memory()
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', history)
  vi.stubGlobal('sessionStorage', sessionStorage)
  vi.stubGlobal('fetch', async (url: string, { method, headers, body }: RequestInit) => {
    requests.push(`${method} ${new URL(url).pathname}`)
    const sent = Object.fromEntries(new Headers(headers))
    const { status, text, headers: got } = await app.send(method!, new URL(url), sent, body?.toString())
    return new Response(text, { status, headers: got as Record<string, string> })
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return { left, requests, location, sessionStorage, store: memory() }
}
