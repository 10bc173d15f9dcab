import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { refuseGrowth } from '../access/bounds.ts'
import { lockTeamAs, teamOfClient } from '../access/roles.ts'
import { auditing, difference, toAuthor } from '../audit/record.ts'
import type { Client, Requested } from '../reviews/client-changes.ts'
import { changeClient, clientNeedsReview } from '../reviews/client-changes.ts'
import { changesColumns, queueIfRequested } from '../reviews/stored.ts'
import { clientColumns, nullIfEmpty, objectOrNull, toClient } from '../shared/mappers.ts'
import {
  isForDevelopment,
  levelFaults,
  logoutFaults,
  nameFaults,
  redirectFaults,
  scopeFaults,
} from '../shared/registration.ts'
import { clientOutput, devices, idOr, idTokenAlgorithm, nameInput, purpose, texts } from '../shared/schemas.ts'
import { refuseIf } from '../shared/validation.ts'

/** For a client that members use, sign-ins on devices, more scopes and redirects on other hosts wait for approval: `wanted`. */
export const update = internal('dev:write', teamPeople, {
  summary: 'Changes a client',
  fails: ['clientUnknown', 'changedMeanwhile', 'teamFull'],
})
  .input(
    z.object({
      client: idOr('clientUnknown'),
      version: z.int().meta({ description: 'The version that was read; any other is 409' }),
      name: nameInput.optional(),
      redirectUris: texts.optional(),
      devices: devices.optional(),
      postLogoutRedirectUris: texts
        .optional()
        .meta({ description: 'Where a sign-out may return to: at the scheme and host of a redirect URI' }),
      scopes: texts.optional(),
      idTokenAlgorithm: idTokenAlgorithm.optional(),
      purpose: purpose.optional().meta({ description: 'What each added scope of a production client is for' }),
    }),
  )
  .output(clientOutput)
  .mutation(async ({ ctx, input: { client: id, version, ...requested } }) => {
    const teamId = await teamOfClient(ctx, id)
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: teamId, unknown: errors.clientUnknown })
      const select = clientColumns(ctx.core.now())
      const found = await tx.client.findUnique({ where: { id }, select })
      if (!found) throw errors.clientUnknown()
      if (version !== found.version) throw errors.changedMeanwhile()
      const { level } = await tx.team.findUniqueOrThrow({ where: { id: teamId } })
      const before = toClient(found)
      refuseIf([
        ...nameFaults('client', { name: requested.name }),
        ...findRedirectFaults(before, requested),
        ...(requested.scopes ? scopeFaults(requested.scopes) : []),
        ...levelFaults(requested.scopes ?? [], level),
      ])
      const { wanted, purpose, ...now } = changeClient(before, requested)
      const { redirectUris, postLogoutRedirectUris } = { ...before, ...now }
      if (requested.postLogoutRedirectUris) {
        refuseIf(logoutFaults(postLogoutRedirectUris, redirectUris, before.type, isForDevelopment(before)))
      }
      const next = { ...before, ...now, ...(purpose && { purpose: nullIfEmpty(purpose) }), wanted: nullIfEmpty(wanted) }
      const differing = difference(before, next)
      if (!differing) return before
      const changed = await tx.client.update({
        where: { id },
        data: {
          ...now,
          ...(purpose && { purpose: objectOrNull(purpose) }),
          ...changesColumns({ wanted, refusal: (before.state === 'refused' && before.refusal) || {} }),
        },
        select,
      })
      await refuseGrowth(tx, teamId, before, toClient(changed))
      await note({ team: teamId, action: 'client.update', target: id, ...differing })
      const about = { name: changed.name, client: id }
      await queueIfRequested(tx, { team: teamId, at: author.at }, { before, after: changed }, about)
      return toClient(changed)
    })
  })

/** Values that are not in the request were accepted before. */
function findRedirectFaults(before: Client, { redirectUris, devices = before.devices }: Requested) {
  const settings = { type: before.type, devices: devices && (before.devices || !clientNeedsReview(before)) }
  if (redirectUris) return redirectFaults(redirectUris, settings, isForDevelopment(before))
  return before.redirectUris.length === 0 ? redirectFaults([], settings, isForDevelopment(before)) : []
}
