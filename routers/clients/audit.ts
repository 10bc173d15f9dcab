import { z } from 'zod'
import { internal } from '../kernel/endpoint.ts'
import { page } from '../kernel/page.ts'
import { teamPeople } from '../kernel/policies.ts'
import { toUnix } from '../kernel/time.ts'
import { router } from '../kernel/trpc.ts'
import { namesOf, targetNames } from './names.ts'
import { auditOutput, idOr } from './shapes.ts'
import { roleIn } from './teams/team-of.ts'

const list = internal('dev:read', teamPeople, {
  summary: 'What was changed in a team, and by whom',
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown'), ...page }))
  .output(z.object({ items: z.array(auditOutput), total: z.int() }))
  .query(async ({ ctx, input: { team, limit, offset } }) => {
    await roleIn(ctx, team)
    const where = { teamId: team }
    const { db } = ctx.core
    const [rows, total] = await Promise.all([
      db.auditEntry.findMany({ where, orderBy: { id: 'desc' }, take: limit, skip: offset }),
      db.auditEntry.count({ where }),
    ])
    const [names, targets] = await Promise.all([
      namesOf(
        db,
        rows.map(({ personId }) => personId),
      ),
      targetNames(
        db,
        team,
        rows.flatMap(({ target, clientId }) => (clientId === null ? target : [target, clientId])),
      ),
    ])
    const items = rows.map(({ id, at, personId, clientId, action, target, before, after }) => ({
      id: String(id),
      at: toUnix(at),
      by: personId === null ? null : { id: personId, name: names.get(personId) ?? null },
      client: clientId === null ? null : { id: clientId, name: targets.get(clientId) ?? null },
      ...{ action, target, targetName: targets.get(target) ?? null },
      ...{ before: valuesOf(before), after: valuesOf(after) },
    }))
    return { items, total }
  })

const valuesOf = (json: unknown) => json as Record<string, unknown> | null

export const audit = router({ list })
