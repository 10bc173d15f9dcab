import { z } from 'zod'
import { internal } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { teamPeople } from '../kernel/policies.ts'
import { auditing, authorOf } from './auditing.ts'
import { newId } from './names.ts'
import { levelFaults, nameFaults, settingFaults } from './registration.ts'
import { clientColumns, toClient } from './rows.ts'
import { purposesOf, refuseIf } from './rules.ts'
import { clientOutput, idOr, purpose, texts } from './shapes.ts'
import { refuseFull, refuseTooMany } from './teams/team-bounds.ts'
import { lockTeamAs, teamOfClient } from './teams/team-of.ts'

/** Creates a client with the settings of a sandbox client, which stays. Nobody can sign in before it is approved. */
export const requestProduction = internal('dev:write', teamPeople, {
  summary: 'Requests a production client like a sandbox client',
  fails: ['clientUnknown', 'ownerNeeded', 'notSandbox', 'tooManyClients', 'teamFull'],
})
  .input(
    z.object({
      client: idOr('clientUnknown'),
      purpose,
      name: z.string().optional(),
      redirectUris: texts.optional().meta({ description: "By default the sandbox client's" }),
    }),
  )
  .output(clientOutput)
  .mutation(async ({ ctx, input }) => {
    const teamId = await teamOfClient(ctx, input.client, 'owner')
    const author = authorOf(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: teamId, needed: 'owner', unknown: errors.clientUnknown })
      const { team, ...sandbox } = await tx.client.findUniqueOrThrow({
        where: { id: input.client },
        include: { team: true },
      })
      const app = sandbox.appId
      if (sandbox.environment !== 'sandbox' || app === null) throw errors.notSandbox()
      const settings = {
        ...{ name: input.name ?? sandbox.name, type: sandbox.type, environment: 'production' as const },
        redirectUris: [...new Set(input.redirectUris ?? sandbox.redirectUris)],
        scopes: sandbox.scopes,
      }
      refuseIf([
        ...nameFaults('client', settings),
        ...settingFaults(settings, false),
        ...levelFaults(settings.scopes, team!.level),
      ])
      const purpose = purposesOf(settings.scopes, input.purpose)
      await refuseTooMany(tx, { app, team: teamId })
      const client = await tx.client.create({
        data: {
          ...{ id: newId('c'), teamId, appId: app, ...settings, purpose },
          ...{ state: 'requested', requestedAt: author.at },
        },
        select: clientColumns(ctx.core.now()),
      })
      await refuseFull(tx, teamId)
      const after = { app, sandbox: sandbox.id, ...settings, purpose }
      await note({ team: teamId, action: 'client.request', target: client.id, after })
      return toClient(client)
    })
  })
