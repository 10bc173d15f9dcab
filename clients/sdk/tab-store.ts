import { page } from './page.ts'

const texts = new Map<string, string>()

/** A tab's own: `sessionStorage`, or the page's memory where that is full or not allowed. */
export const tabStore = {
  getItem(name: string): string | null {
    const held = texts.get(name)
    if (held !== undefined) return held
    try {
      return page.sessionStorage.getItem(name)
    } catch {
      return null
    }
  },
  setItem(name: string, text: string): void {
    try {
      page.sessionStorage.setItem(name, text)
      texts.delete(name)
    } catch {
      texts.set(name, text)
    }
  },
  removeItem(name: string): void {
    texts.delete(name)
    try {
      page.sessionStorage.removeItem(name)
    } catch {}
  },
}
