import type { Database } from '../../prisma/client.ts'
import { within } from '../../prisma/within.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { memberMarks } from '../../routers/kernel/cipher.ts'
import type { ApiError, errors } from '../../routers/kernel/errors.ts'
import type { Answered, Counted, Refused, SignIn } from './write.ts'
import { MAX_ANSWERED, MAX_REFUSED, MAX_SIGN_INS, write } from './write.ts'

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

const INVALID: keyof typeof errors = 'tokenInvalid'

const MINUTE_MS = 60_000
const WRITE_MS = 2_000
/** Counts are written less often than lines: a write of them changes two rows per client. */
const WRITES_A_COUNT = 5
/** Refusals of all clients between two writes; further ones are dropped. */
const MAX_WAITING = 2_000
/** Successes, likewise: 100 a second of as many apps take 0.3 % of a core here, and at most 4 % of one of PostgreSQL's. */
const MAX_ANSWERED_WAITING = 200
const MAX_SIGN_INS_WAITING = 500
/** Clients counted in a minute; tokens of an external issuer may name any. */
const MAX_CLIENTS = 10_000
/** Timeout of the last write, while the database is slow or unavailable. */
const PATIENCE_MS = 2_000

interface Request {
  requestId: string
  method: string
  ms: number
  /** The token's member. */
  member: string | null
}

export interface RequestLog {
  /** Counts an answered request that began `at` (Unix milliseconds), and stores the first ones of a minute. */
  answered: (client: string, at: number, request: Request & { route: string; status: number }) => void
  refused: (client: string, at: number, error: ApiError, request: Request & { route: string | undefined }) => void
  /** Stores the first failed sign-ins of a client and minute. */
  signInFailed: (client: string, at: number, request: Omit<SignIn, 'clientId' | 'at'>) => void
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

type Counts = Counted & { refusedLines: number; answeredLines: number; signIns: number }

/**
 * Counts each client's requests, and stores refused ones and a sample of the others; a timer writes them, and no request waits for
 * that. While the database is slow or unavailable, the excess is dropped.
 */
export function openRequestLog({ db, cipher, failed, writeMs = WRITE_MS }: Options): RequestLog {
  let minute = 0
  let counts = new Map<string, Counts>()
  let ended: Counts[] = []
  let refused: Refused[] = []
  /** With the member's id: its hash would be a hundredth of the cost of the request. */
  let answered: Answered[] = []
  let signIns: SignIn[] = []
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
    const made = {
      clientId: client,
      at: minute,
      ok: 0,
      refused: 0,
      limited: 0,
      refusedLines: 0,
      answeredLines: 0,
      signIns: 0,
    }
    counts.set(client, made)
    return made
  }

  function takeCounts(): Counted[] {
    const taken: Counted[] = []
    for (const one of [...ended, ...counts.values()]) {
      const { clientId, at, ok, refused, limited } = one
      if (ok + refused + limited > 0) taken.push({ clientId, at, ok, refused, limited })
      Object.assign(one, { ok: 0, refused: 0, limited: 0 })
    }
    ended = []
    return taken
  }

  const hide = (member: string | null) => member && memberMarks(cipher, member)[0]!

  /** One write at a time. */
  function flush(all: boolean): Promise<void> {
    if (writing) return writing
    const counted = all || turn++ % WRITES_A_COUNT === 0 ? takeCounts() : []
    const lines = refused.length + answered.length + signIns.length
    if (lines + counted.length === 0) return Promise.resolve()
    const hidden = answered.map((line) => ({ ...line, member: hide(line.member) }))
    const taken = { refused, answered: hidden, signIns, counts: counted }
    refused = []
    answered = []
    signIns = []
    writing = write(db, taken)
      .catch((error) => failed(error, lines))
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
    answered(client, at, { requestId, method, route, status, ms, member }) {
      const counted = findCounts(client, at)
      if (!counted) return
      counted.ok++
      if (counted.answeredLines >= MAX_ANSWERED || answered.length >= MAX_ANSWERED_WAITING) return
      counted.answeredLines++
      answered.push({ clientId: client, requestId, at, method, route, status, ms: Math.round(ms), member })
    },
    refused(client, at, error, { requestId, method, route = null, ms, member }) {
      const counted = findCounts(client, at)
      if (!counted) return
      if (error.status === 429) counted.limited++
      // A conditional write that lost is the answer that the app asked for.
      else if (error.status === 412) counted.ok++
      else counted.refused++
      if (counted.refusedLines >= MAX_REFUSED || refused.length >= MAX_WAITING) return
      counted.refusedLines++
      const { status, id } = error
      // Tokens of erased members are invalid, and apps may send them until they expire.
      const mark = id === INVALID ? null : hide(member)
      const line = { clientId: client, requestId, at, method, route, status, ms: Math.round(ms), member: mark }
      refused.push({ ...line, error: id, message: loggedMessage(error) })
    },
    signInFailed(client, at, request) {
      const counted = findCounts(client, at)
      if (!counted || counted.signIns >= MAX_SIGN_INS || signIns.length >= MAX_SIGN_INS_WAITING) return
      counted.signIns++
      signIns.push({ ...request, clientId: client, at })
    },
    flush: flushAll,
    async close() {
      clearInterval(timer)
      await within(PATIENCE_MS, flushAll())
    },
  }
}
