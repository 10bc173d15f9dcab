import { z } from 'zod'
import { isPostgresText } from '../../kernel/access.ts'
import { memberMarks } from '../../kernel/cipher.ts'
import { internal } from '../../kernel/endpoint.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import { roleIn } from '../access/roles.ts'
import { idOr, typed } from '../shared/schemas.ts'
import { EXPECTED, logged, readRegistrations, registrations, statements, toItem } from './logged-requests.ts'

const team = idOr('teamUnknown')
const status = z.int().min(400).max(599)

/** Time and number of a page's last row. */
const CURSOR = /^(\d{1,14})-(\d{1,18})$/

const toCursor = (row: { ms: number; id: string } | undefined) => (row ? `${row.ms}-${row.id}` : null)

function parseCursor(cursor: string | undefined) {
  const [, ms, id] = CURSOR.exec(cursor ?? '') ?? []
  return ms === undefined ? { at: null, id: null } : { at: Number(ms), id: BigInt(id!) }
}

const list = internal('dev:read', teamPeople, {
  summary:
    'The refused requests and failed sign-ins of a team in the last 7 days, newest first, and some successful requests',
  fails: ['teamUnknown'],
})
  .input(
    z.object({
      team,
      app: idOr('ownAppUnknown').optional().meta({ description: 'Only of the clients of this app' }),
      client: typed.refine(isPostgresText).optional(),
      status: status.optional(),
      successes: z
        .boolean()
        .default(false)
        .meta({ description: 'Also successes: of each app the first of each minute, and the newest' }),
      errors: z.boolean().optional().meta({ description: 'Without 412, which a conditional write expects' }),
      member: typed.max(255).refine(isPostgresText).optional().meta({ description: 'The id of a member' }),
      method: typed.max(10).refine(isPostgresText).optional(),
      route: typed.max(200).refine(isPostgresText).optional().meta({ description: 'As in `route` of an item' }),
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
      items: z.array(logged),
      registrations,
      next: z.string().nullable(),
      newest: z.string().nullable().meta({ description: 'For `after`; null without items' }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { team, app, client, status, successes, errors, member, method, route, before, after, limit } = input
    await roleIn(ctx, team)
    const [last, first] = [parseCursor(before), parseCursor(after)]
    const rows = await ctx.core.db.execute(statements.list, {
      team,
      app: app ?? null,
      client: client ?? null,
      successes,
      status: status ?? null,
      notStatus: status === undefined && errors ? EXPECTED : null,
      members: member === undefined ? null : memberMarks(ctx.core.cipher, member),
      method: method ?? null,
      route: route ?? null,
      beforeAt: last.at,
      beforeId: last.id,
      afterAt: first.at,
      afterId: first.id,
      limit: limit + 1,
    })
    const items = rows.slice(0, limit)
    const next = rows.length > limit ? items.at(-1) : undefined
    return {
      items: items.map(toItem),
      registrations: await readRegistrations(ctx, team, items),
      next: toCursor(next),
      newest: toCursor(items[0]),
    }
  })

const get = internal('dev:read', teamPeople, {
  summary: 'The requests of a team with a request id, newest first',
  fails: ['teamUnknown'],
})
  .input(z.object({ team, requestId: typed.refine(isPostgresText) }))
  .output(z.object({ items: z.array(logged), registrations }))
  .query(async ({ ctx, input: { team, requestId } }) => {
    await roleIn(ctx, team)
    const rows = await ctx.core.db.execute(statements.byId, { team, requestId })
    return { items: rows.map(toItem), registrations: await readRegistrations(ctx, team, rows) }
  })

export const requests = router({ list, get })
