import type { Answer, Ask, Operation } from './linearizable.ts'

/** Returns a random integer below `below`. */
export type Pick = (below: number) => number
type Entry = { value: string; etag: string } | undefined

export type Fault = 'none' | 'stale reads' | 'conditions checked too early'

/**
 * A history of five clients and a register, correct or with a fault. `pick` chooses who asks, is served or receives its
 * answer next, and loses an answer now and then.
 */
export function simulate(pick: Pick, fault: Fault): Operation[] {
  let entry: Entry
  let cached: Entry
  let clock = 0
  const tags = ['*', '"other"']
  const serve = ({ method, value, ifMatch, ifNoneMatch }: Ask, judged: Entry): Answer => {
    const fits = (tag: string) => judged !== undefined && (tag === '*' || tag === judged.etag)
    if (method === 'GET') return judged ? { status: 200, ...judged } : { status: 404 }
    if ((ifMatch && !fits(ifMatch)) || (ifNoneMatch && fits(ifNoneMatch))) return { status: 412 }
    const had = entry
    entry = method === 'PUT' ? { value: value!, etag: `"${++clock}"` } : undefined
    if (pick(3) === 0) cached = entry
    if (entry) return { status: 200, etag: entry.etag }
    return { status: had ? 204 : 404 }
  }
  const clients = Array.from({ length: 5 }, (_, client) => ({ client, left: 10, stage: 0, seen: entry }))
  const last: Operation[] = []
  const history: Operation[] = []
  while (clients.some(({ left }) => left > 0)) {
    const waiting = clients.filter(({ left }) => left > 0)
    const turn = waiting[pick(waiting.length)]!
    const { client, stage } = turn
    turn.stage = (stage + 1) % 3
    if (stage === 0) {
      const method = (['GET', 'PUT', 'PUT', 'PUT', 'DELETE'] as const)[pick(5)]!
      const ask: Ask = { method, ...(method === 'PUT' && { value: String(++clock) }) }
      if (method !== 'GET' && pick(4) > 0) ask[pick(6) === 0 ? 'ifNoneMatch' : 'ifMatch'] = tags.at(-1 - pick(2))!
      turn.seen = entry
      last[client] = { ask, answer: undefined, called: ++clock, returned: 0 }
    } else if (stage === 1) {
      const { ask } = last[client]!
      const early = fault === 'conditions checked too early' && ask.method !== 'GET'
      const stale = fault === 'stale reads' && ask.method === 'GET'
      last[client]!.answer = serve(ask, stale ? cached : early ? turn.seen : entry)
    } else {
      const { answer, ...asked } = last[client]!
      const isLost = pick(20) === 0
      history.push({ ...asked, answer: isLost ? undefined : answer, returned: ++clock })
      if (!isLost && answer?.etag) tags.push(answer.etag)
      turn.left--
    }
  }
  return history
}
