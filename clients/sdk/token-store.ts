import type { Asked, Database, Records } from './page.ts'
import { page } from './page.ts'
import { tabStore } from './tab-store.ts'
import { pause } from './timers.ts'

/** Like `sessionStorage`; its functions may be asynchronous. */
export interface TokenStore {
  getItem(name: string): string | null | Promise<string | null>
  setItem(name: string, text: string): void | Promise<void>
  removeItem(name: string): void | Promise<void>
}

type Mode = 'readonly' | 'readwrite'

const RECORDS = 'tokens'

/** Some browsers never answer. */
const LIMIT_MS = 3_000
/** Between attempts: a browser may have just closed the database. */
const PAUSES_MS = [50, 200]
/** Whether the database works on this page: undefined until it has answered, false if it never will. */
let works: boolean | undefined

function open(): Promise<Database> {
  return new Promise((resolve, reject) => {
    const asked = page.indexedDB.open('member-apps')
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      works ??= false
      reject(new Error('IndexedDB does not answer.'))
    }, LIMIT_MS)
    asked.onupgradeneeded = () => asked.result.createObjectStore(RECORDS)
    asked.onsuccess = () => {
      clearTimeout(timer)
      if (isLate) asked.result.close()
      resolve(asked.result)
    }
    asked.onerror = () => {
      clearTimeout(timer)
      reject(asked.error)
    }
  })
}

async function once<Result>(mode: Mode, work: (records: Records) => Asked<Result>): Promise<Result> {
  const database = await open()
  try {
    const transaction = database.transaction(RECORDS, mode)
    const asked = work(transaction.objectStore(RECORDS))
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
    return asked.result
  } finally {
    database.close()
  }
}

async function run<Result>(mode: Mode, work: (records: Records) => Asked<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    if (works === false) throw new Error('IndexedDB does not work here.')
    try {
      const result = await once(mode, work)
      works = true
      return result
    } catch (error) {
      const isLast = attempt === PAUSES_MS.length
      if (isLast) works ??= false
      if (isLast || works === false) throw error
      await pause(PAUSES_MS[attempt]!)
    }
  }
}

/** A failure of a database that has worked says nothing about what it holds. */
function ignoreUnlessWorks(error: unknown): undefined {
  if (works) throw error
}

/**
 * IndexedDB: each tab reads what another has written. Not localStorage, of which each process of the browser has a copy: in
 * Chromium a tab that got the lock still read the refresh token that the other had used 200 ms before. Where IndexedDB keeps
 * failing, as in private windows and sandboxed frames, the tab has its own tokens.
 */
export const sharedStore: TokenStore = {
  async getItem(name) {
    const own = tabStore.getItem(name)
    if (own !== null) return own
    return (await run('readonly', (records) => records.get(name)).catch(ignoreUnlessWorks)) ?? null
  },
  async setItem(name, text) {
    try {
      await run('readwrite', (records) => records.put(text, name))
      tabStore.removeItem(name)
    } catch {
      tabStore.setItem(name, text)
    }
  },
  async removeItem(name) {
    tabStore.removeItem(name)
    await run('readwrite', (records) => records.delete(name)).catch(ignoreUnlessWorks)
  },
}
