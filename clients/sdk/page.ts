interface Locks {
  request(
    name: string,
    options: { signal?: AbortSignal; steal?: boolean },
    work: () => Promise<unknown>,
  ): Promise<unknown>
}

export interface Asked<Result> {
  readonly result: Result
  readonly error: unknown
  onsuccess: (() => void) | null
  onerror: (() => void) | null
}

export interface Records {
  get(name: string): Asked<string | undefined>
  put(text: string, name: string): Asked<unknown>
  delete(name: string): Asked<unknown>
}

interface Transaction {
  readonly error: unknown
  oncomplete: (() => void) | null
  onabort: (() => void) | null
  objectStore(name: string): Records
}

export interface Database {
  createObjectStore(name: string): unknown
  transaction(name: string, mode: 'readonly' | 'readwrite'): Transaction
  close(): void
}

/**
 * The parts of a browser's page that a sign-in and a live collection need: declared here, as programs for servers have no DOM
 * types.
 */
interface Page {
  addEventListener?: (event: string, listener: () => void) => void
  removeEventListener?: (event: string, listener: () => void) => void
  document?: { visibilityState: string }
  location?: { href: string; assign(url: string): void }
  history: { replaceState(state: unknown, unused: string, url: string): void }
  sessionStorage: {
    getItem(name: string): string | null
    setItem(name: string, text: string): void
    removeItem(name: string): void
  }
  indexedDB: { open(name: string): Asked<Database> & { onupgradeneeded: (() => void) | null } }
  /** Browsers before 2022 have no locks. */
  navigator?: { locks?: Locks }
}

export const page = globalThis as unknown as Page
