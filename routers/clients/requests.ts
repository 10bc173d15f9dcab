import { z } from 'zod'
import type { Prisma } from '../../prisma/generated/client.ts'
import { isPostgresText } from '../kernel/access.ts'
import { memberMarks } from '../kernel/cipher.ts'
import type { Context } from '../kernel/context.ts'
import { internal } from '../kernel/endpoint.ts'
import { withError } from '../kernel/errors.ts'
import { page } from '../kernel/page.ts'
import { teamPeople } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { clientNames } from './names.ts'
import { roleIn } from './teams/team-of.ts'

/** A caller may choose the id of its requests: the newest are listed. */
const MAX_OF_AN_ID = 50

export const refused = z.object({
  requestId: z.string(),
  at: z.iso.datetime().meta({ description: 'When it arrived, with milliseconds' }),
  client: z.string(),
  clientName: z.string().nullable().meta({ description: 'Null for a client that was removed' }),
  method: z.string(),
  route: z
    .string()
    .nullable()
    .meta({ description: 'The pattern, as `/storage/{collection}/{key}`; null where there is no endpoint' }),
  status: z.int(),
  error: z.string().meta({ description: 'The name of the error, as in the error catalogue' }),
  message: z
    .string()
    .nullable()
    .meta({ description: 'The sentence of the response; null where it depends on what was sent, which is not stored' }),
  ms: z.int().meta({ description: 'Duration until the response, in milliseconds' }),
})

const team = z.string().refine(isPostgresText, withError('teamUnknown'))
const status = z.int().min(400).max(599)

/** A conditional write that lost is the answer that the app asked for. */
const EXPECTED = 412
/** Time and number of a page's last row. */
const CURSOR = /^(\d{1,14})-(\d{1,18})$/

const columns = { teamId: true, member: true } as const
const newestFirst = [{ at: 'desc' }, { id: 'desc' }] satisfies Prisma.RefusedRequestOrderByWithRelationInput[]

type Row = Prisma.RefusedRequestGetPayload<{ omit: typeof columns }>

async function shown({ core: { db } }: Context, team: string, rows: readonly Row[]) {
  const names = await clientNames(
    db,
    team,
    rows.map(({ clientId }) => clientId),
  )
  return rows.map(({ id: _, at, clientId, ...row }) => ({
    ...row,
    at: at.toISOString(),
    ...{ client: clientId, clientName: names.get(clientId) ?? null },
  }))
}

const cursorOf = (row: Row | undefined) => (row ? `${row.at.getTime()}-${row.id}` : null)

function rowsBefore(cursor: string): Prisma.RefusedRequestWhereInput {
  const [, ms, id] = CURSOR.exec(cursor)!
  const at = new Date(Number(ms))
  // The first condition is for the index.
  return { at: { lte: at }, OR: [{ at: { lt: at } }, { id: { lt: BigInt(id!) } }] }
}

function rowsAfter(cursor: string): Prisma.RefusedRequestWhereInput {
  const [, ms, id] = CURSOR.exec(cursor)!
  const at = new Date(Number(ms))
  return { at: { gte: at }, OR: [{ at: { gt: at } }, { id: { gt: BigInt(id!) } }] }
}

/** The newest refusal of some clients that is an error, among the newest of the team: its index does not have the client. */
export async function lastErrorOf(
  ctx: Context,
  { team, clients, among }: { team: string; clients: readonly string[]; among: number },
) {
  const [found] = await ctx.core.db.$queryRaw<{ at: Date; id: bigint }[]>`
    SELECT at, id FROM (SELECT at, id, "clientId", status FROM "RefusedRequest" WHERE "teamId" = ${team}
      ORDER BY at DESC, id DESC LIMIT ${among}) newest
    WHERE "clientId" = ANY (${clients}) AND status <> ${EXPECTED} ORDER BY at DESC, id DESC LIMIT 1`
  if (!found) return null
  const place = { teamId: team, at: found.at, id: found.id }
  const row = await ctx.core.db.refusedRequest.findUnique({ where: { place }, omit: columns })
  return row && (await shown(ctx, team, [row]))[0]!
}

const list = internal('dev:read', teamPeople, {
  summary: 'The refused requests of a team in the last 7 days, newest first',
  fails: ['teamUnknown'],
})
  .input(
    z.object({
      team,
      client: z.string().refine(isPostgresText).optional(),
      status: status.optional(),
      errors: z.boolean().optional().meta({ description: 'Without 412, which a conditional write expects' }),
      member: z.string().max(255).refine(isPostgresText).optional().meta({ description: 'The id of a member' }),
      method: z.string().max(10).optional(),
      route: z.string().max(200).refine(isPostgresText).optional().meta({ description: 'As in `route` of an item' }),
      after: z
        .string()
        .regex(CURSOR)
        .optional()
        .meta({ description: '`newest` of an earlier answer: only what came since' }),
      before: z.string().regex(CURSOR).optional().meta({ description: '`next` of the previous page' }),
      limit: page.limit,
    }),
  )
  .output(
    z.object({
      items: z.array(refused),
      next: z.string().nullable(),
      newest: z.string().nullable().meta({ description: 'For `after`; null without items' }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { team, client, status, errors, member, method, route, before, after, limit } = input
    await roleIn(ctx, team)
    const rows = await ctx.core.db.refusedRequest.findMany({
      where: {
        teamId: team,
        ...(client !== undefined && { clientId: client }),
        ...(status !== undefined ? { status } : errors && { status: { not: EXPECTED } }),
        ...(member !== undefined && { member: { in: memberMarks(ctx.core.cipher, member) } }),
        ...(method !== undefined && { method }),
        ...(route !== undefined && { route }),
        AND: [before === undefined ? {} : rowsBefore(before), after === undefined ? {} : rowsAfter(after)],
      },
      omit: columns,
      orderBy: newestFirst,
      take: limit + 1,
    })
    const items = rows.slice(0, limit)
    const last = rows.length > limit ? items.at(-1) : undefined
    return { items: await shown(ctx, team, items), next: cursorOf(last), newest: cursorOf(items[0]) }
  })

const get = internal('dev:read', teamPeople, {
  summary: 'The refused requests of a team with a request id, newest first',
  fails: ['teamUnknown'],
})
  .input(z.object({ team, requestId: z.string().refine(isPostgresText) }))
  .output(z.object({ items: z.array(refused) }))
  .query(async ({ ctx, input: { team, requestId } }) => {
    await roleIn(ctx, team)
    const where = { teamId: team, requestId }
    const rows = await ctx.core.db.refusedRequest.findMany({
      where,
      omit: columns,
      orderBy: newestFirst,
      take: MAX_OF_AN_ID,
    })
    return { items: await shown(ctx, team, rows) }
  })

export const requests = router({ list, get })
