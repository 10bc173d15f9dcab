import type { Database } from '../prisma/client.ts'
import type { Access, AccessLookup, Principal } from './access.ts'
import type { Cipher } from './cipher.ts'

/** An event that was published, and the deliveries that it made. */
export interface Published {
  app: string
  event: string
  deliveries: readonly string[]
}

/** What the whole service shares. */
export interface Core {
  db: Database
  /** Unix time in milliseconds. */
  now: () => number
  accessOf: AccessLookup
  cipher: Cipher
  /** Fills `This client is not a … app.` */
  brand: string
  storageQuotaBytes: number
  /** Told of each event that was published just now: a worker in this process need not wait for its next look. */
  published: (event: Published) => void
}

/** What a procedure's own code is given, behind the gate: whose app and which member it is for; '' where there is none. */
export interface Admitted extends Context {
  app: string
  member: string
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
