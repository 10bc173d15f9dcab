import { createHash } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { removal } from '../../prisma/pg/removal.ts'
import { errors } from '../kernel/errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { expiry } from '../kernel/page.ts'
import type { Answers } from './grade.ts'
import { isAnswer } from './grade.ts'

export interface Place {
  clientId: string
  personId: string
  organisationId: string
  quizId: string
  key: string | undefined
}

export interface FirstSubmission {
  bodyHash: string
  /** JSON text. */
  answer: string
}

const byId = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** Equal for equal answers in any order: their count, and a hash of them sorted by id. */
export function hashAnswers(answers: Answers): string {
  const entries = Object.entries(answers).sort(byId)
  return `${entries.length}.${createHash('sha256').update(JSON.stringify(entries)).digest('hex')}`
}

/** Count and types first: hashing a large body that was never accepted would block the event loop. */
const hasSameBody = ({ bodyHash }: FirstSubmission, answers: Answers) =>
  bodyHash.startsWith(`${Object.keys(answers).length}.`) &&
  Object.values(answers).every(isAnswer) &&
  bodyHash === hashAnswers(answers)

/** The first result; throws 409 when the key came with another body. */
export function replay<Answer>(kept: FirstSubmission, answers: Answers): Answer {
  if (!hasSameBody(kept, answers)) throw errors.idempotencyMismatch()
  return JSON.parse(kept.answer) as Answer
}

/** By the connections of the database: each request has a `db` of its own, for its deadline. */
const underWay = new WeakMap<Database['shares'], Map<string, Promise<unknown>>>()

/**
 * Lets concurrent duplicates in this process share one result, instead of each holding a connection while it waits in the
 * database. Duplicates on several nodes are kept apart by the claim of the key.
 */
export function shared<Outcome>(
  { shares }: Database,
  place: Place,
  bodyHash: string,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const running = underWay.get(shares) ?? new Map<string, Promise<unknown>>()
  underWay.set(shares, running)
  const { clientId, personId, organisationId, quizId, key } = place
  const name = JSON.stringify([clientId, personId, organisationId, quizId, key, bodyHash])
  const duplicate = running.get(name)
  if (duplicate) return duplicate as Promise<Outcome>
  const outcome = work().finally(() => running.delete(name))
  running.set(name, outcome)
  return outcome
}

const forgetUpTo = removal({ name: 'idempotency_forget', table: '"IdempotencyRecord"', time: '"createdAt"' })

/** Deletes records older than 24 hours, at most `limit`; returns their number. */
export async function forgetExpired(db: Database, now: number, limit = PORTION): Promise<number> {
  return forgetUpTo(db, expiry(now).getTime(), limit)
}
