import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { refuseFull, refuseTooMany } from '../access/bounds.ts'
import { lockTeamAs, teamOfClient } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { queueReceived } from '../mails/queue.ts'
import { changesColumns, readProduction } from '../reviews/stored.ts'
import { stateAfter } from '../reviews/transitions.ts'
import { clientColumns, toClient, toState } from '../shared/mappers.ts'
import { newId } from '../shared/names.ts'
import { pickPurposes } from '../shared/purposes.ts'
import { levelFaults, logoutFaults, nameFaults, settingFaults } from '../shared/registration.ts'
import { clientOutput, devices, idOr, nameInput, purpose, texts } from '../shared/schemas.ts'
import { refuseIf } from '../shared/validation.ts'

/**
 * Creates a production client with the settings of a sandbox client. A client whose request was refused takes the new
 * settings, and waits again. Nobody can sign in before it is approved.
 */
export const requestProduction = internal('dev:write', teamPeople, {
  summary: 'Requests a production client like a sandbox client, or again after a refusal',
  fails: ['clientUnknown', 'ownerNeeded', 'changedMeanwhile', 'notSandbox', 'tooManyClients', 'teamFull'],
})
  .input(
    z.object({
      client: idOr('clientUnknown'),
      version: z.int().optional().meta({ description: 'The version that was read; any other is 409' }),
      purpose,
      name: nameInput.optional(),
      redirectUris: texts.optional().meta({ description: "By default the client's" }),
      devices: devices.optional(),
      scopes: texts.optional().meta({ description: "By default the client's" }),
    }),
  )
  .output(clientOutput)
  .mutation(async ({ ctx, input }) => {
    const teamId = await teamOfClient(ctx, input.client, 'owner')
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: teamId, needed: 'owner', unknown: errors.clientUnknown })
      const { team, ...from } = await tx.client.findUniqueOrThrow({
        where: { id: input.client },
        include: { team: true },
      })
      if (input.version !== undefined && input.version !== from.version) throw errors.changedMeanwhile()
      const app = from.appId
      const review = readProduction({ ...from, state: toState(from) })
      if (!stateAfter(review, 'request') || app === null) throw errors.notSandbox()
      const isAgain = review.state === 'refused'
      const settings = {
        name: input.name ?? from.name,
        type: from.type,
        environment: 'production' as const,
        redirectUris: [...new Set(input.redirectUris ?? from.redirectUris)],
        devices: input.devices ?? from.devices,
        scopes: [...new Set(input.scopes ?? from.scopes)],
      }
      // Development URIs are left out, as are hosts without a redirect URI.
      const postLogoutRedirectUris = from.postLogoutRedirectUris.filter(
        (uri) => logoutFaults([uri], settings.redirectUris, from.type, false).length === 0,
      )
      refuseIf([
        ...nameFaults('client', settings),
        ...settingFaults(settings, false),
        ...levelFaults(settings.scopes, team!.level),
      ])
      const purpose = pickPurposes(settings.scopes, input.purpose)
      const data = { ...settings, postLogoutRedirectUris, purpose, state: 'requested' as const, requestedAt: author.at }
      const methods = { authentication: from.authentication, idTokenAlgorithm: from.idTokenAlgorithm }
      const select = clientColumns(ctx.core.now())
      if (!isAgain) await refuseTooMany(tx, { app, team: teamId })
      const client = isAgain
        ? await tx.client.update({
            where: { id: from.id },
            data: { ...data, ...changesColumns() },
            select,
          })
        : await tx.client.create({
            // A sandbox's secrets and keys are often on several machines, so they are not copied.
            data: { ...data, ...methods, id: newId('c'), teamId, appId: app },
            select,
          })
      await refuseFull(tx, teamId)
      const after = { app, ...(!isAgain && { sandbox: from.id }), ...settings, purpose, ...methods }
      await note({ team: teamId, action: 'client.request', target: client.id, after })
      await queueReceived(tx, { team: teamId, at: author.at }, { name: client.name, client: client.id, isNew: true })
      return toClient(client)
    })
  })
