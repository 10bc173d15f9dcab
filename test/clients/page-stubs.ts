import { vi } from 'vitest'

/** A store of texts as a browser has them. */
export function memoryStore() {
  const texts = new Map<string, string>()
  return {
    texts,
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => void texts.set(name, text),
    removeItem: (name: string) => void texts.delete(name),
  }
}

export function stubSessionStorage() {
  const store = memoryStore()
  vi.stubGlobal('sessionStorage', store)
  return store
}

/** What a page has of its browser. `left` has the addresses to which it was sent. */
export function stubPage(address: string, fetch: unknown) {
  const left: string[] = []
  const location = { href: address, assign: (url: string) => void left.push(url) }
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', {
    replaceState: (_state: unknown, _unused: string, href: string) => Object.assign(location, { href }),
  })
  vi.stubGlobal('fetch', fetch)
  return { left, location, sessionStorage: stubSessionStorage() }
}
