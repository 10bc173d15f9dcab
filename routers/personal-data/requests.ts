import { z } from 'zod'
import type { Database } from '../../prisma/client.ts'
import { removal } from '../../prisma/pg/removal.ts'
import { instant, statement, text } from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../kernel/access.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { page } from '../kernel/page.ts'
import { directoryPlatform } from '../kernel/policies.ts'
import { DAY_MS, toUnix } from '../kernel/time.ts'
import { router } from '../kernel/trpc.ts'
import { announceDataRequest } from '../webhooks/member-events/announce.ts'

export const ANSWER_DAYS = 30
const ANSWERED_DAYS = 365

/** The request of a member that waits for an answer; null without one. */
export const findOpenRequest = (db: Database, personId: string) =>
  db.dataRequest.findFirst({ where: { personId, answeredAt: null } })

/** Stores a request, and announces it to the apps that the member allows access; nothing while one is open. */
export const requestData = (db: Database, personId: string, now: number): Promise<boolean> =>
  db.$transaction(async (tx) => {
    const times = { requestedAt: new Date(now), deadline: new Date(now + ANSWER_DAYS * DAY_MS) }
    const [created] = await tx.dataRequest.createManyAndReturn({ data: { personId, ...times }, skipDuplicates: true })
    if (created) await announceDataRequest(tx, personId, created.id)
    return created !== undefined
  })

/** The requests without an answer, the oldest first. */
export const listOpenRequests = (db: Database, { after = '', limit = 10_000 } = {}) =>
  db.dataRequest.findMany({ where: { answeredAt: null, id: { gt: after } }, orderBy: { id: 'asc' }, take: limit })

const markAnswered = statement(
  'data_request_answer',
  `UPDATE "DataRequest" SET "answeredAt" = coalesce("answeredAt", greatest("requestedAt", $at::timestamptz)) WHERE id = $id RETURNING id`,
  { id: text, at: instant },
  { id: text },
)

/** Ends a request; one that has been answered keeps its time. Throws 404. */
export async function answerRequest(db: Database, id: string, now: number): Promise<void> {
  const found = await db.execute(markAnswered, { id, at: now })
  if (found.length === 0) throw errors.dataRequestUnknown()
}

const removeAnswered = removal({ name: 'data_requests_remove', table: '"DataRequest"', time: '"answeredAt"' })

export const removeAnsweredRequests = (db: Database, now: number, limit = PORTION): Promise<number> =>
  removeAnswered(db, now - ANSWERED_DAYS * DAY_MS, limit)

const id = z.string().refine(isPostgresText, withError('dataRequestUnknown'))
const time = z.int().meta({ description: 'Unix seconds' })

const list = internal('directory:read', directoryPlatform, {
  summary: 'The requests of members for a copy of their data that wait for an answer, the oldest first',
})
  .input(
    z.object({
      after: id.default('').meta({ description: 'The id of the last item of the page before' }),
      limit: page.limit,
    }),
  )
  .output(
    z.object({
      items: z.array(z.object({ id, person: z.string(), requestedAt: time, deadline: time })),
      more: z.boolean(),
    }),
  )
  .query(async ({ ctx: { core }, input: { after, limit } }) => {
    const rows = await listOpenRequests(core.db, { after, limit: limit + 1 })
    const items = rows.slice(0, limit).map(({ id, personId, requestedAt, deadline }) => ({
      id,
      person: personId,
      requestedAt: toUnix(requestedAt),
      deadline: toUnix(deadline),
    }))
    return { items, more: rows.length > limit }
  })

const answer = internal('directory:write', directoryPlatform, {
  summary: 'Ends a request for a copy of data that was answered',
  fails: ['dataRequestUnknown'],
})
  .input(z.object({ id }))
  .output(z.object({ id }))
  .mutation(async ({ ctx: { core }, input: { id } }) => {
    await answerRequest(core.db, id, core.now())
    return { id }
  })

export const dataRequests = router({ list, answer })
