import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { lockTeamAs, teamOfApp } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { changesColumns, readChanges } from '../reviews/stored.ts'
import { stateAfter } from '../reviews/transitions.ts'
import { appColumns, toApp } from '../shared/mappers.ts'
import { appOutput, idOr } from '../shared/schemas.ts'
import { logoVersions } from './logo.ts'

/** What the operator has decided on meanwhile has another version: of the two acts, one is 409. */
export const withdrawChanges = internal('dev:write', teamPeople, {
  summary: 'Withdraws the changes of an app that are pending approval',
  fails: ['ownAppUnknown', 'changedMeanwhile'],
})
  .input(
    z.object({
      app: idOr('ownAppUnknown'),
      version: z.int().meta({ description: 'The version that was read; any other is 409' }),
    }),
  )
  .output(appOutput)
  .mutation(async ({ ctx, input: { app: id, version } }) => {
    const team = await teamOfApp(ctx, id)
    const logo = (await logoVersions(ctx.core.db, [id])).get(id) ?? null
    return auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.ownAppUnknown })
      const app = await tx.app.findUnique({ where: { id }, select: appColumns })
      if (!app) throw errors.ownAppUnknown()
      if (version !== app.version || !stateAfter(readChanges(app), 'withdraw')) throw errors.changedMeanwhile()
      const { wanted } = toApp(app, logo)
      const changed = await tx.app.update({
        where: { id },
        data: { ...changesColumns(), wantedLogo: null },
        select: appColumns,
      })
      await note({ team, action: 'app.withdraw', target: id, before: { wanted } })
      return toApp(changed, logo)
    })
  })
