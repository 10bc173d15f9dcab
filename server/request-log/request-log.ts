import type { Database } from '../../prisma/client.ts'
import { within } from '../../prisma/within.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { memberMarks } from '../../routers/kernel/cipher.ts'
import type { ApiError, errors } from '../../routers/kernel/errors.ts'
import type { Counted, Line } from './write.ts'
import { MAX_LINES, write } from './write.ts'

/** Errors whose sentences are about the endpoint or the client; others could quote the request. */
const quotesNothing: ReadonlySet<string> = new Set<keyof typeof errors>([
  'scopeMissing',
  'clientNotApp',
  'memberUnknown',
  'hostWrong',
  'methodWrong',
  'rateLimited',
  'internal',
  'unavailable',
])

/** Null when the error's sentence could quote the request. */
const loggedMessage = ({ id, isFixed, message }: ApiError): string | null =>
  isFixed || quotesNothing.has(id) ? message : null

const MINUTE_MS = 60_000
const WRITE_MS = 2_000
/** Counts are written less often than lines: a write of them changes two rows per client. */
const WRITES_A_COUNT = 5
/** Lines of all clients between two writes; further ones are dropped. */
const MAX_WAITING = 2_000
/** Clients counted in a minute; tokens of an external issuer may name any. */
const MAX_CLIENTS = 10_000
/** Timeout of the last write, while the database is slow or unavailable. */
const PATIENCE_MS = 2_000

export interface Refused {
  requestId: string
  method: string
  route: string | undefined
  ms: number
  /** The token's member. */
  member: string | null
}

export interface RequestLog {
  /** Counts an answered request that began `at` (Unix milliseconds). */
  answered: (client: string, at: number) => void
  refused: (client: string, at: number, error: ApiError, request: Refused) => void
  flush: () => Promise<void>
  /** The same, with a timeout. */
  close: () => Promise<void>
}

interface Options {
  db: Database
  /** Called when lines could not be written: they are dropped. */
  failed: (error: unknown, lines: number) => void
  writeMs?: number
  cipher: Cipher
}

type Counts = Counted & { lines: number }

/**
 * Counts each client's requests and stores refused ones; a timer writes them, and no request waits for that. While the database
 * is slow or unavailable, the excess is dropped.
 */
export function openRequestLog({ db, cipher, failed, writeMs = WRITE_MS }: Options): RequestLog {
  let minute = 0
  let counts = new Map<string, Counts>()
  let ended: Counts[] = []
  let lines: Line[] = []
  let writing: Promise<void> | undefined
  let turn = 0

  function findCounts(client: string, at: number): Counts | undefined {
    if (at >= minute + MINUTE_MS) {
      ended.push(...counts.values())
      if (ended.length > MAX_CLIENTS) ended = []
      counts = new Map()
      minute = at - (at % MINUTE_MS)
    }
    const found = counts.get(client)
    if (found || counts.size >= MAX_CLIENTS) return found
    const made = { client, at: minute, ok: 0, refused: 0, limited: 0, lines: 0 }
    counts.set(client, made)
    return made
  }

  function takeCounts(): Counted[] {
    const taken: Counted[] = []
    for (const one of [...ended, ...counts.values()]) {
      const { client, at, ok, refused, limited } = one
      if (ok + refused + limited > 0) taken.push({ client, at, ok, refused, limited })
      Object.assign(one, { ok: 0, refused: 0, limited: 0 })
    }
    ended = []
    return taken
  }

  /** One write at a time. */
  function flush(all: boolean): Promise<void> {
    if (writing) return writing
    const taken = lines
    const counted = all || turn++ % WRITES_A_COUNT === 0 ? takeCounts() : []
    if (taken.length === 0 && counted.length === 0) return Promise.resolve()
    lines = []
    writing = write(db, taken, counted)
      .catch((error) => failed(error, taken.length))
      .finally(() => {
        writing = undefined
      })
    return writing
  }

  async function flushAll() {
    await writing
    await flush(true)
  }

  const timer = setInterval(() => void flush(false), writeMs).unref()

  return {
    answered(client, at) {
      const counted = findCounts(client, at)
      if (counted) counted.ok++
    },
    refused(client, at, error, { requestId, method, route = null, ms, member }) {
      const counted = findCounts(client, at)
      if (!counted) return
      if (error.status === 429) counted.limited++
      // A conditional write that lost is the answer that the app asked for.
      else if (error.status === 412) counted.ok++
      else counted.refused++
      if (counted.lines >= MAX_LINES || lines.length >= MAX_WAITING) return
      counted.lines++
      const { status, id } = error
      lines.push({
        client,
        requestId,
        at,
        method,
        route,
        status,
        error: id,
        message: loggedMessage(error),
        ms: Math.round(ms),
        member: member && memberMarks(cipher, member)[0]!,
      })
    },
    flush: flushAll,
    async close() {
      clearInterval(timer)
      await within(PATIENCE_MS, flushAll())
    },
  }
}
