import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { isSameText } from '../../kernel/equal-texts.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { lockTeamAs, roleIn } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { idOr, typed } from '../shared/schemas.ts'
import { impact, readImpact } from './impact.ts'
import { DAYS_TO_RESTORE, markTeam, restoreDeadline } from './schedule.ts'

const team = idOr('teamUnknown')
const ends = z.object({
  team: z.string(),
  endsAt: z.int().nullable().meta({ description: 'Unix seconds; null: it stays' }),
})

export const teamImpact = internal('dev:read', teamPeople, {
  summary: 'What would end with a team',
  fails: ['teamUnknown'],
})
  .input(z.object({ team }))
  .output(impact)
  .query(async ({ ctx, input }) => {
    await roleIn(ctx, input.team)
    return readImpact(ctx, input)
  })

export const removeTeam = internal('dev:write', teamPeople, {
  summary: `Suspends the apps of a team, which is removed ${DAYS_TO_RESTORE} days later with all that belongs to it`,
  fails: ['teamUnknown', 'ownerNeeded', 'nameNotConfirmed'],
})
  .input(z.object({ team, confirm: typed.meta({ description: 'Its name', minLength: 1 }) }))
  .output(ends)
  .mutation(async ({ ctx, input: { team: id, confirm } }) => {
    await roleIn(ctx, id, 'owner')
    const author = toAuthor(ctx)
    const endsAt = await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: id, needed: 'owner' })
      const found = await tx.team.findUniqueOrThrow({ where: { id }, select: { name: true, endsAt: true } })
      if (found.endsAt) return found.endsAt
      if (!isSameText(confirm, found.name)) throw errors.nameNotConfirmed()
      const end = restoreDeadline(author.at.getTime())
      await markTeam(tx, id, end)
      await note({ team: id, action: 'team.remove', target: id, before: { name: found.name }, after: { endsAt: end } })
      return end
    })
    ctx.core.removed({ repeat: 'team.ending', team: id, endsAt: endsAt.toISOString() })
    return { team: id, endsAt: toUnix(endsAt) }
  })

export const restoreTeam = internal('dev:write', teamPeople, {
  summary: 'Restores a deleted team before its end, with the apps that were deleted with it',
  fails: ['teamUnknown', 'ownerNeeded'],
})
  .input(z.object({ team }))
  .output(ends)
  .mutation(async ({ ctx, input: { team: id } }) => {
    await roleIn(ctx, id, 'owner')
    const author = toAuthor(ctx)
    await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: id, needed: 'owner' })
      const { endsAt } = await tx.team.findUniqueOrThrow({ where: { id }, select: { endsAt: true } })
      if (endsAt === null) return
      if (endsAt <= author.at) throw errors.teamUnknown()
      await markTeam(tx, id, null)
      await note({ team: id, action: 'team.restore', target: id })
    })
    ctx.core.removed({ repeat: 'team.ending', team: id, endsAt: null })
    return { team: id, endsAt: null }
  })
