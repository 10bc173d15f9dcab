/** The browser or runtime lacks a function without which this cannot work. The message is one sentence. */
export class PlatformLacks extends Error {
  override name = 'PlatformLacks'
  /** As `crypto.subtle`. */
  readonly feature: string

  constructor(feature: string, message: string) {
    super(message)
    this.feature = feature
  }
}

/** Undefined also for what a page may not touch, as `sessionStorage` in a sandboxed frame. */
function found(feature: string): unknown {
  try {
    return feature.split('.').reduce<unknown>((of, name) => Object(of)[name], globalThis)
  } catch {
    return undefined
  }
}

/** React Native's own URL throws for most of it, and adds a slash to addresses. */
function hasWholeUrl(): boolean {
  try {
    const url = new URL('https://a.example/b')
    url.pathname = '/c'
    url.searchParams.set('d', 'e')
    return url.href === 'https://a.example/c?d=e' && new URLSearchParams(url.search).get('d') === 'e'
  } catch {
    return false
  }
}

/** Throws `PlatformLacks` for the first of the features that is missing. */
export function need(purpose: string, ...features: string[]): void {
  const missing = features.find((feature) => (feature === 'URL' ? !hasWholeUrl() : found(feature) == null))
  if (missing) throw lack(purpose, missing)
}

export function lack(purpose: string, missing: string): PlatformLacks {
  const isInsecure = missing.startsWith('crypto.subtle') && found('isSecureContext') === false
  const reason = isInsecure
    ? `${purpose} works at https or localhost only: at other addresses browsers have no ${missing}.`
    : `${purpose} needs ${missing}, which this browser or runtime does not have or does not allow here.`
  return new PlatformLacks(missing, reason)
}

/** A random UUID. It is no secret, so a weak source will do where there is no other. */
export function randomId(): string {
  try {
    return crypto.randomUUID()
  } catch {
    // Not at insecure addresses, nor in React Native.
  }
  const hex = Array.from(randomBytes(), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-')
}

function randomBytes(): Uint8Array {
  const bytes = new Uint8Array(16)
  try {
    return crypto.getRandomValues(bytes)
  } catch {
    return bytes.map(() => Math.random() * 256)
  }
}
