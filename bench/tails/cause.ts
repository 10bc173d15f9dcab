import { CONNECTION } from '../../prisma/pg/observed-pool.ts'
import type { Span, Stops } from '../servers/process.ts'
import type { TracedSpan } from './collector.ts'
import type { DatabaseWaits } from './database-waits.ts'

/** In ms of the epoch. */
export interface SlowRequest {
  due: number
  sent: number
  answered: number
  spans: TracedSpan[]
}

export interface Measured {
  client: Stops
  server: Stops
  database: DatabaseWaits
}

const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0)
const overlap = (a: Span, b: Span) => Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from))
const inside = (spans: readonly Span[], of: Span) => sum(spans.map((span) => overlap(span, of)))

/** The part of a request's time that took longest, and all of its time, in ms. */
export function findCause({ due, sent, answered, spans }: SlowRequest, { client, server, database }: Measured) {
  const all = { from: sent, to: answered }
  const request = spans.find(({ isRequest }) => isRequest) ?? all
  const stopped = (span: Span) => inside(server.turns, span)
  const before = { from: sent, to: request.from }
  const waits = spans.filter(({ name }) => name === CONNECTION)
  const statements = spans.filter((span) => !span.isRequest && !waits.includes(span))
  const garbage = inside(server.garbage, all)
  const taken = sum(server.turns.map((turn) => (turn.taken * overlap(turn, all)) / (turn.to - turn.from)))
  const longest = statements.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0] ?? all
  const parts: Record<string, number> = {
    // Before the service has begun and when it has answered.
    'the client': sent - due + inside(client.turns, before) + inside(client.turns, { from: request.to, to: answered }),
    'requests before it': Math.max(0, before.to - before.from - inside(client.turns, before) - stopped(before)),
    garbage,
    "another process on the server's core": taken,
    'the event loop': Math.max(0, stopped(all) - garbage - taken),
    'wait for a connection': sum(waits.map((wait) => wait.to - wait.from - stopped(wait))),
    [`a statement (${database.during(longest)})`]: sum(statements.map((one) => one.to - one.from - stopped(one))),
  }
  const total = answered - due
  parts['not found'] = total - sum(Object.values(parts))
  const [cause] = Object.entries(parts).toSorted(([, a], [, b]) => b - a)[0]!
  return { cause, total, parts }
}
