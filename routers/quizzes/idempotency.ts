import { createHash } from 'node:crypto'
import type { Database, Transaction } from '../../prisma/client.ts'
import { errors } from '../errors.ts'
import { DAY_SECONDS } from '../time.ts'
import type { Answers } from './grade.ts'
import { isAnswer } from './grade.ts'

/** What an `Idempotency-Key` is unique within. */
export interface Place {
  clientId: string
  personId: string
  organisationId: string
  quizId: string
  key: string
}

/** What is kept of the first submission with a key. */
export interface Kept {
  bodyHash: string
  /** JSON text. */
  answer: string
}

/** Records of this moment or earlier are forgotten. */
export const expiry = (now: number) => new Date(now - DAY_SECONDS * 1000)

const byId = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** The same for equal answers, in whatever order they came: their number, and a hash of them sorted by id. */
export function hashOf(answers: Answers): string {
  const entries = Object.entries(answers).sort(byId)
  return `${entries.length}.${createHash('sha256').update(JSON.stringify(entries)).digest('hex')}`
}

/** The number and the types come first: hashing what can never have been accepted would only hold everybody up. */
const isBodyOf = ({ bodyHash }: Kept, answers: Answers) =>
  bodyHash.startsWith(`${Object.keys(answers).length}.`) &&
  Object.values(answers).every(isAnswer) &&
  bodyHash === hashOf(answers)

/** The first answer again, or 409 when the key came with another body. */
export function replay<Answer>(kept: Kept, answers: Answers): Answer {
  if (!isBodyOf(kept, answers)) throw errors.idempotencyMismatch()
  return JSON.parse(kept.answer) as Answer
}

/**
 * Keeps an answer as the first to its key, and returns the one that rules: this one, or that of a twin, for whose
 * transaction it waits; should the twin be rolled back, this one is the first. An expired record is replaced.
 */
export async function claim(tx: Transaction, place: Place, { bodyHash, answer }: Kept, now: number): Promise<Kept> {
  const { clientId, personId, organisationId, quizId, key } = place
  const expired = expiry(now)
  const [kept] = await tx.$queryRaw<Kept[]>`
    INSERT INTO "IdempotencyRecord" AS kept
      ("clientId", "personId", "organisationId", "quizId", "key", "bodyHash", "answer", "createdAt")
    VALUES (${clientId}, ${personId}, ${organisationId}, ${quizId}, ${key}, ${bodyHash}, ${answer}, ${new Date(now)}::timestamptz)
    ON CONFLICT ("clientId", "personId", "organisationId", "quizId", "key") DO UPDATE SET
      "bodyHash" = CASE WHEN kept."createdAt" <= ${expired}::timestamptz THEN excluded."bodyHash" ELSE kept."bodyHash" END,
      "answer" = CASE WHEN kept."createdAt" <= ${expired}::timestamptz THEN excluded."answer" ELSE kept."answer" END,
      "createdAt" = CASE WHEN kept."createdAt" <= ${expired}::timestamptz THEN excluded."createdAt" ELSE kept."createdAt" END
    RETURNING "bodyHash", "answer"`
  return kept!
}

const underWay = new WeakMap<Database, Map<string, Promise<unknown>>>()

/**
 * Lets twins of this process share one outcome instead of waiting for each other in the database, each with a
 * connection of its own. It only spares connections: what keeps twins of several nodes apart is the claim.
 */
export function shared<Outcome>(
  db: Database,
  place: Place,
  bodyHash: string,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const ofDatabase = underWay.get(db) ?? new Map<string, Promise<unknown>>()
  underWay.set(db, ofDatabase)
  const { clientId, personId, organisationId, quizId, key } = place
  const name = JSON.stringify([clientId, personId, organisationId, quizId, key, bodyHash])
  const twin = ofDatabase.get(name)
  if (twin) return twin as Promise<Outcome>
  const outcome = work().finally(() => ofDatabase.delete(name))
  ofDatabase.set(name, outcome)
  return outcome
}

/** Deletes the records whose 24 hours are over, and says how many. */
export async function forgetExpired(db: Database, now: number): Promise<number> {
  const { count } = await db.idempotencyRecord.deleteMany({ where: { createdAt: { lte: expiry(now) } } })
  return count
}
