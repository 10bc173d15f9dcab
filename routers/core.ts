import type { Database } from '../prisma/client.ts'
import type { Principal } from './access.ts'
import { accessLookup } from './access.ts'
import type { Cipher } from './cipher.ts'
import type { Core } from './context.ts'
import { appRouter } from './index.ts'
import { createCallerFactory } from './trpc.ts'

interface Parts {
  db: Database
  cipher: Cipher
  brand: string
  storageQuotaBytes: number
  now: () => number
  published?: Core['published']
}

/** What the whole service shares, made once in a process. */
export const createCore = (parts: Parts): Core => ({
  published: () => {},
  ...parts,
  accessOf: accessLookup(parts.db, parts.now),
})

const createCaller = createCallerFactory(appRouter)

/** Of a caller in this process: no quota, no headers, values parsed, and answers that it holds in memory by itself. */
const inProcess = {
  admit: async () => {},
  setHeader: () => {},
  reserve: async () => {},
  json: (pieces: readonly string[]) => JSON.parse(pieces.join('')),
}

/** The procedures for an app in this process: `callAs(core, principal).me.profile()`. The same gate, no token, no limit. */
export const callAs = (core: Core, principal: Principal) => createCaller({ ...core, ...inProcess, principal })
