import type { Asked, Database, Records } from './page.ts'
import { page } from './page.ts'

/** Like `sessionStorage`; its functions may be asynchronous. */
export interface TokenStore {
  getItem(name: string): string | null | Promise<string | null>
  setItem(name: string, text: string): void | Promise<void>
  removeItem(name: string): void | Promise<void>
}

const RECORDS = 'tokens'

function open(): Promise<Database> {
  const asked = page.indexedDB.open('member-apps')
  return new Promise((resolve, reject) => {
    asked.onupgradeneeded = () => asked.result.createObjectStore(RECORDS)
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
}

async function run<Result>(mode: 'readonly' | 'readwrite', work: (records: Records) => Asked<Result>): Promise<Result> {
  const database = await open()
  const transaction = database.transaction(RECORDS, mode)
  const asked = work(transaction.objectStore(RECORDS))
  const ended = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error)
  })
  await ended.finally(() => database.close())
  return asked.result
}

/**
 * IndexedDB: each tab reads what another has written. Not localStorage, of which each process of the browser has a copy: in
 * Chromium a tab that got the lock still read the refresh token that the other had used 200 ms before.
 */
export const sharedStore: TokenStore = {
  getItem: async (name) => (await run('readonly', (records) => records.get(name))) ?? null,
  setItem: async (name, text) => {
    await run('readwrite', (records) => records.put(text, name))
  },
  removeItem: async (name) => {
    await run('readwrite', (records) => records.delete(name))
  },
}
