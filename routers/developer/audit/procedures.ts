import { z } from 'zod'
import { int, json, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { roleIn } from '../access/roles.ts'
import { readNames, targetNames } from '../shared/names.ts'
import { auditOutput, idOr, more } from '../shared/schemas.ts'

type Values = Record<string, unknown>

const newest = statement(
  'audit_entries',
  `SELECT id::text, ${unix('at')} AS at, "personId", "clientId", action, target, before::json, after::json
    FROM "AuditEntry" entry WHERE "teamId" = $team ORDER BY entry.id DESC LIMIT $limit::int8 OFFSET $offset::int8`,
  { team: text, limit: int, offset: int },
  {
    id: text,
    at: int,
    personId: nullable(text),
    clientId: nullable(text),
    action: text,
    target: text,
    before: nullable(json<Values>()),
    after: nullable(json<Values>()),
  },
)

/** Without a total, which took most of the time with 100,000 entries. */
const list = internal('dev:read', teamPeople, {
  summary: 'What was changed in a team, and by whom',
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown'), ...page }))
  .output(z.object({ items: z.array(auditOutput), more }))
  .query(async ({ ctx, input: { team, limit, offset } }) => {
    await roleIn(ctx, team)
    const { db } = ctx.core
    const found = await db.execute(newest, { team, limit: limit + 1, offset })
    const rows = found.slice(0, limit)
    const [names, targets] = await Promise.all([
      readNames(
        db,
        rows.map(({ personId }) => personId),
      ),
      targetNames(
        db,
        team,
        rows.flatMap(({ target, clientId }) => (clientId === null ? target : [target, clientId])),
      ),
    ])
    const items = rows.map(({ personId, clientId, target, ...row }) => ({
      ...row,
      by: personId === null ? null : { id: personId, name: names.get(personId) ?? null },
      client: clientId === null ? null : { id: clientId, name: targets.get(clientId) ?? null },
      target,
      targetName: targets.get(target) ?? null,
    }))
    return { items, more: found.length > limit }
  })

export const audit = router({ list })
