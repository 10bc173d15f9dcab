import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { refuseFull, refuseTooMany } from '../access/bounds.ts'
import { lockTeamAs, teamOfApp } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { clientColumns, toClient } from '../shared/mappers.ts'
import { newId } from '../shared/names.ts'
import { firstAlgorithm, levelFaults, nameFaults, settingFaults } from '../shared/registration.ts'
import { clientOutput, devices, idOr, idTokenAlgorithm, nameInput, texts } from '../shared/schemas.ts'
import { refuseIf } from '../shared/validation.ts'
import { addTestClub } from '../test-club/add.ts'

export const create = internal('dev:write', teamPeople, {
  summary: 'Registers a sandbox client of an app',
  fails: ['ownAppUnknown', 'tooManyClients', 'teamFull'],
})
  .input(
    z.object({
      app: idOr('ownAppUnknown'),
      name: nameInput,
      type: z.enum(['web', 'native'], { error: 'type is web or native.' }),
      redirectUris: texts,
      devices: devices.default(false),
      scopes: texts,
      idTokenAlgorithm: idTokenAlgorithm.optional().meta({ description: 'With `openid`, RS256 by default' }),
    }),
  )
  .output(clientOutput)
  .mutation(async ({ ctx, input: { app, name, ...settings } }) => {
    const teamId = await teamOfApp(ctx, app)
    // Only its developers use it, so `localhost` is allowed as in development.
    refuseIf([...nameFaults('client', { name }), ...settingFaults(settings, true)])
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: teamId, unknown: errors.ownAppUnknown })
      const team = await tx.team.findUniqueOrThrow({ where: { id: teamId } })
      refuseIf(levelFaults(settings.scopes, team.level))
      await refuseTooMany(tx, { app, team: teamId })
      await addTestClub(tx, team, { app, now: author.at })
      const fields = {
        name,
        type: settings.type,
        environment: 'sandbox' as const,
        testOnly: true,
        redirectUris: [...new Set(settings.redirectUris)],
        devices: settings.devices,
        scopes: [...new Set(settings.scopes)],
        idTokenAlgorithm: firstAlgorithm(settings.scopes, [], settings.idTokenAlgorithm) ?? ('ES256' as const),
      }
      const client = await tx.client.create({
        data: { id: newId('c'), teamId, appId: app, ...fields },
        select: clientColumns(ctx.core.now()),
      })
      await refuseFull(tx, teamId)
      await note({ team: teamId, action: 'client.create', target: client.id, after: { app, ...fields } })
      return toClient(client)
    })
  })
