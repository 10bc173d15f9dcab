/** A request about one key. A condition is one tag, quoted as in its header, or `*`. */
export interface Ask {
  method: 'GET' | 'PUT' | 'DELETE'
  /** For PUT only; unique within a history. */
  value?: string
  /** Not for GET. */
  ifMatch?: string
  /** For GET a tag, not `*`: a 304 would not show which value it saw. */
  ifNoneMatch?: string
}

export interface Answer {
  status: number
  etag?: string | undefined
  value?: string | undefined
}

/** A request and its answer, with the times before the call and after the return; it takes effect between them. */
export interface Operation {
  ask: Ask
  /** Undefined if it was lost: the request may take effect at any time after the call, or never. */
  answer: Answer | undefined
  called: number
  returned: number
}

interface Entry {
  value: string
  /** Undefined if no client received it. */
  etag: string | undefined
}

/**
 * Tells whether the answers about one key, absent at first, are those of a register that executes one operation at a
 * time, each between its call and its return. Wing and Gong's search: tries each operation that no other precedes as the
 * next one; after Lowe, a set of operations that led to the same entry is tried once.
 */
export function isLinearizable(history: Operation[]): boolean {
  const entries = listEntries(history)
  const tags = history.filter(({ ask }) => ask.method === 'PUT').flatMap(({ answer }) => answer?.etag ?? [])
  if (new Set(tags).size < tags.length) return false

  const bits = history.map((_, i) => 1n << BigInt(i))
  const answered = history.reduce((all, { answer }, i) => (answer ? all | bits[i]! : all), 0n)
  const seen = new Set<string>()
  // `present` is the index of the PUT that wrote the current value; -1: absent.
  const search = (done: bigint, present: number): boolean => {
    if ((done & answered) === answered) return true
    const state = `${done} ${present}`
    if (seen.has(state)) return false
    seen.add(state)
    const left = history.flatMap((_, i) => ((done & bits[i]!) === 0n ? [i] : []))
    const firstReturn = Math.min(...left.map((i) => returnedAt(history[i]!)))
    return left.some((i) => {
      if (history[i]!.called > firstReturn) return false
      const changed = findEffect(history[i]!, entries[present])
      if (changed === 'impossible') return false
      const after = { nothing: present, written: i, removed: -1 }[changed]
      return search(done | bits[i]!, after)
    })
  }
  return search(0n, -1)
}

const returnedAt = ({ answer, returned }: Operation) => (answer ? returned : Number.POSITIVE_INFINITY)

/** What each PUT writes. If its answer was lost, its tag is taken from a GET of its value. */
function listEntries(history: Operation[]): (Entry | undefined)[] {
  const written = new Set<string>()
  return history.map(({ ask, answer }) => {
    if (ask.method !== 'PUT') return undefined
    const value = ask.value!
    if (written.has(value)) throw new Error(`Two PUTs wrote ${value}: a GET could not tell them apart.`)
    written.add(value)
    const read = history.find((other) => other.ask.method === 'GET' && other.answer?.value === value)
    return { value, etag: answer ? answer.etag : read?.answer?.etag }
  })
}

type Effect = 'nothing' | 'written' | 'removed' | 'impossible'

/** The effect of an operation on `entry`, or 'impossible' if its answer does not match. */
function findEffect({ ask, answer }: Operation, entry: Entry | undefined): Effect {
  const wanted = answerTo(ask, entry)
  const effect =
    wanted.status === 204 ? 'removed' : ask.method === 'PUT' && wanted.status === 200 ? 'written' : 'nothing'
  // A lost answer without an effect needs no place in the order.
  if (!answer) return effect === 'nothing' ? 'impossible' : effect
  if (answer.status !== wanted.status) return 'impossible'
  const isRead = ask.method === 'GET' && entry !== undefined
  return isRead && (answer.etag !== wanted.etag || answer.value !== wanted.value) ? 'impossible' : effect
}

function answerTo({ method, ifMatch, ifNoneMatch }: Ask, entry: Entry | undefined): Answer {
  const fits = (tag: string) => entry !== undefined && (tag === '*' || tag === entry.etag)
  if (method === 'GET') {
    if (!entry) return { status: 404 }
    return ifNoneMatch !== undefined && fits(ifNoneMatch)
      ? { status: 304, etag: entry.etag }
      : { status: 200, ...entry }
  }
  if (ifMatch !== undefined && !fits(ifMatch)) return { status: 412 }
  if (ifNoneMatch !== undefined && fits(ifNoneMatch)) return { status: 412 }
  if (method === 'PUT') return { status: 200 }
  return { status: entry ? 204 : 404 }
}
