import { onTestFinished, vi } from 'vitest'
import { redirectUri } from '../oauth/auth-world.ts'
import type { Browser } from '../oauth/browser.ts'
import { memoryStore, stubPage } from './page-stubs.ts'

/** A page whose requests a browser of the test sends, for the rest of a test. */
export function openTab(app: Browser, address = redirectUri) {
  const requests: string[] = []
  const page = stubPage(address, async (url: string, { method, headers, body }: RequestInit) => {
    requests.push(`${method} ${new URL(url).pathname}`)
    const sent = Object.fromEntries(new Headers(headers))
    const { status, text, headers: got } = await app.send(method!, new URL(url), sent, body?.toString())
    return new Response(text, { status, headers: got as Record<string, string> })
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return { ...page, requests, store: memoryStore() }
}
