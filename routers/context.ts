import type { Database } from '../prisma/client.ts'
import type { Access, AccessLookup, Principal } from './access.ts'
import type { Sealer } from './webhook/seal.ts'

/** What the whole service shares. */
export interface Core {
  db: Database
  /** Unix time in milliseconds. */
  now: () => number
  accessOf: AccessLookup
  sealer: Sealer
  /** Fills `This client is not a … app.` */
  brand: string
  storageQuotaBytes: number
}

/** What is given to every procedure. */
export interface Context extends Core {
  principal: Principal
  /** Counts this call against the quota of its team, or throws 429. Callers in this process have no quota. */
  admit: (access: Access) => Promise<void>
  /** What a JSON text, in pieces, becomes in an answer: parsed in this process, spliced as it is over HTTP. */
  // biome-ignore lint/suspicious/noExplicitAny: as JSON.parse has it
  json: (pieces: readonly string[]) => any
  /** Waits until there is room in memory for an answer of so many bytes, until that is sent. */
  reserve: (bytes: number) => Promise<void>
  /** Sets a header of the answer, where there is one. */
  setHeader: (name: string, value: string) => void
}
