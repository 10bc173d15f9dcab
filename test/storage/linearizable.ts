/** A request about one key. A condition is one tag, quoted as in its header, or `*`. */
export interface Ask {
  method: 'GET' | 'PUT' | 'DELETE'
  /** Of PUT; no two of a history write the same. */
  value?: string
  /** Not of GET. */
  ifMatch?: string
  /** Of GET only a tag: the answer to `*` would tell one of which nobody knows the value. */
  ifNoneMatch?: string
}

export interface Answer {
  status: number
  etag?: string | undefined
  value?: string | undefined
}

/** A request and its answer, with the moments before the one and after the other: in between it took effect, if it did. */
export interface Operation {
  ask: Ask
  /** Undefined where none came: it may take effect at any time after the call, or never. */
  answer: Answer | undefined
  called: number
  returned: number
}

interface Entry {
  value: string
  /** Undefined where no client learned it. */
  etag: string | undefined
}

/**
 * Whether the answers about one key, absent at first, are those of a register that does one thing after the other, each
 * between its call and its return. The search is that of Wing and Gong: of the operations that no other precedes, one is
 * put next. As Lowe has it, a set of operations that led to the same entry before is not gone through again.
 */
export function isLinearizable(history: Operation[]): boolean {
  const entries = entriesOf(history)
  const tags = history.filter(({ ask }) => ask.method === 'PUT').flatMap(({ answer }) => answer?.etag ?? [])
  if (new Set(tags).size < tags.length) return false

  const bits = history.map((_, i) => 1n << BigInt(i))
  const answered = history.reduce((all, { answer }, i) => (answer ? all | bits[i]! : all), 0n)
  const seen = new Set<string>()
  // What is there is told by the number of the PUT that wrote it; -1 is absent.
  const search = (done: bigint, present: number): boolean => {
    if ((done & answered) === answered) return true
    const state = `${done} ${present}`
    if (seen.has(state)) return false
    seen.add(state)
    const left = history.flatMap((_, i) => ((done & bits[i]!) === 0n ? [i] : []))
    const firstReturn = Math.min(...left.map((i) => returnedOf(history[i]!)))
    return left.some((i) => {
      if (history[i]!.called > firstReturn) return false
      const changed = effectOf(history[i]!, entries[present])
      if (changed === 'impossible') return false
      const after = { nothing: present, written: i, removed: -1 }[changed]
      return search(done | bits[i]!, after)
    })
  }
  return search(0n, -1)
}

const returnedOf = ({ answer, returned }: Operation) => (answer ? returned : Number.POSITIVE_INFINITY)

/** What each PUT writes. Where its own answer was lost, its tag is the one that came with its value. */
function entriesOf(history: Operation[]): (Entry | undefined)[] {
  const written = new Set<string>()
  return history.map(({ ask, answer }) => {
    if (ask.method !== 'PUT') return undefined
    const value = ask.value!
    if (written.has(value)) throw new Error(`Two PUT wrote ${value}: nobody can tell which one a GET has seen.`)
    written.add(value)
    const read = history.find((other) => other.ask.method === 'GET' && other.answer?.value === value)
    return { value, etag: answer ? answer.etag : read?.answer?.etag }
  })
}

type Effect = 'nothing' | 'written' | 'removed' | 'impossible'

/** What an operation does to the entry that it meets, or that its answer is not one to this entry. */
function effectOf({ ask, answer }: Operation, entry: Entry | undefined): Effect {
  const wanted = answerTo(ask, entry)
  const effect =
    wanted.status === 204 ? 'removed' : ask.method === 'PUT' && wanted.status === 200 ? 'written' : 'nothing'
  // Without an effect, what nobody heard of is as if it had not been.
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
