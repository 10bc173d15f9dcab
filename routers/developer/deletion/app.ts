import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { isSameText } from '../../kernel/equal-texts.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { lockTeamAs, roleIn, teamOfApp } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { idOr, typed } from '../shared/schemas.ts'
import { impact, readImpact } from './impact.ts'
import { DAYS_TO_RESTORE, markApp, restoreDeadline } from './schedule.ts'

const app = idOr('ownAppUnknown')
const ends = z.object({
  app: z.string(),
  endsAt: z.int().nullable().meta({ description: 'Unix seconds; null: it stays' }),
})

export const appImpact = internal('dev:read', teamPeople, {
  summary: 'What would end with an app',
  fails: ['ownAppUnknown'],
})
  .input(z.object({ app }))
  .output(impact)
  .query(async ({ ctx, input }) => {
    await teamOfApp(ctx, input.app)
    return readImpact(ctx, input)
  })

export const removeApp = internal('dev:write', teamPeople, {
  summary: `Suspends an app, which is removed ${DAYS_TO_RESTORE} days later with its clients, consents, storage and subscriptions`,
  fails: ['ownAppUnknown', 'ownerNeeded', 'appSuspended', 'nameNotConfirmed'],
})
  .input(z.object({ app, confirm: typed.meta({ description: 'Its name', minLength: 1 }) }))
  .output(ends)
  .mutation(async ({ ctx, input: { app: id, confirm } }) => {
    const team = await teamOfApp(ctx, id)
    await roleIn(ctx, team, 'owner')
    const author = toAuthor(ctx)
    const endsAt = await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, needed: 'owner', unknown: errors.ownAppUnknown })
      const found = await tx.app.findUnique({ where: { id }, select: { name: true, state: true, endsAt: true } })
      if (!found) throw errors.ownAppUnknown()
      if (found.endsAt) return found.endsAt
      if (found.state === 'suspended') throw errors.appSuspended()
      if (!isSameText(confirm, found.name)) throw errors.nameNotConfirmed()
      const end = restoreDeadline(author.at.getTime())
      await markApp(tx, id, end)
      await note({ team, action: 'app.remove', target: id, before: { name: found.name }, after: { endsAt: end } })
      return end
    })
    ctx.core.removed({ repeat: 'app.ending', app: id, endsAt: endsAt.toISOString() })
    return { app: id, endsAt: toUnix(endsAt) }
  })

export const restoreApp = internal('dev:write', teamPeople, {
  summary: 'Restores a deleted app before its end',
  fails: ['ownAppUnknown', 'ownerNeeded', 'teamEnding'],
})
  .input(z.object({ app }))
  .output(ends)
  .mutation(async ({ ctx, input: { app: id } }) => {
    const team = await teamOfApp(ctx, id)
    await roleIn(ctx, team, 'owner')
    const author = toAuthor(ctx)
    await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, needed: 'owner', unknown: errors.ownAppUnknown })
      const select = { endsAt: true, team: { select: { endsAt: true } } }
      const found = await tx.app.findUnique({ where: { id }, select })
      if (!found || (found.endsAt && found.endsAt <= author.at)) throw errors.ownAppUnknown()
      if (found.team.endsAt) throw errors.teamEnding()
      if (found.endsAt === null) return
      await markApp(tx, id, null)
      await note({ team, action: 'app.restore', target: id })
    })
    ctx.core.removed({ repeat: 'app.ending', app: id, endsAt: null })
    return { app: id, endsAt: null }
  })
