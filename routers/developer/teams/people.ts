import { z } from 'zod'
import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import { removeRecords } from '../../kernel/withdraw.ts'
import { lockTeamAs, roleIn } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { memberColumns, toPerson } from '../shared/mappers.ts'
import { idOr, personOutput, role } from '../shared/schemas.ts'
import { invite, withdraw } from './invitations.ts'
import { getPerson, listPeople } from './list.ts'

const endConsents = statement(
  'consents_end_test_only',
  `UPDATE "Consent" SET "withdrawnAt" = $at FROM "Client"
    WHERE "Client".id = "clientId" AND "teamId" = $team AND "testOnly" AND "withdrawnAt" IS NULL
      AND ("personId" = $person OR EXISTS (SELECT FROM "OauthRecord"
        WHERE model = 'Grant' AND "OauthRecord".id = "Consent".id AND payload ->> 'accountId' = $person))
    RETURNING "Consent".id`,
  { at: instant, team: text, person: text },
  { id: text },
)

async function endTestConsents(tx: Transaction, { team, person, at }: { team: string; person: string; at: Date }) {
  const ended = await executeIn(tx, endConsents, { at, team, person })
  await removeRecords(
    tx,
    ended.map(({ id }) => id),
  )
}

const team = idOr('teamUnknown')
const person = idOr('colleagueUnknown')

const setRole = internal('dev:write', teamPeople, {
  summary: 'Makes a person of a team an owner or a developer',
  fails: ['teamUnknown', 'ownerNeeded', 'colleagueUnknown', 'lastOwner'],
})
  .input(z.object({ team, person, role }))
  .output(personOutput)
  .mutation(async ({ ctx, input: { team, person, role } }) => {
    await roleIn(ctx, team, 'owner')
    return auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, needed: 'owner' })
      const found = await colleague(tx, team, person, role !== 'owner')
      if (found.role === role) return toPerson(found)
      const of = { teamId: team, personId: person }
      const changed = await tx.teamMember.update({ where: { of }, data: { role }, select: memberColumns })
      await note({ team, action: 'person.setRole', target: person, before: { role: found.role }, after: { role } })
      return toPerson(changed)
    })
  })

const remove = internal('dev:write', teamPeople, {
  summary: 'Removes a person from a team',
  fails: ['teamUnknown', 'ownerNeeded', 'colleagueUnknown', 'lastOwner'],
})
  .input(z.object({ team, person }))
  .output(personOutput)
  .mutation(async ({ ctx, input: { team, person } }) => {
    const needed = person === ctx.person ? 'developer' : 'owner'
    await roleIn(ctx, team, needed)
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, needed })
      const found = await colleague(tx, team, person, true)
      await tx.teamMember.delete({ where: { of: { teamId: team, personId: person } }, select: { role: true } })
      await endTestConsents(tx, { team, person, at: author.at })
      await note({ team, action: 'person.remove', target: person, before: { role: found.role } })
      return toPerson(found)
    })
  })

/** Returns a person of the locked team. Throws 404, or 409 when the last owner would cease to be one. */
async function colleague(tx: Transaction, teamId: string, personId: string, endsOwner: boolean) {
  const found = await tx.teamMember.findUnique({ where: { of: { teamId, personId } }, select: memberColumns })
  if (!found) throw errors.colleagueUnknown()
  if (endsOwner && found.role === 'owner') {
    const owners = await tx.teamMember.count({ where: { teamId, role: 'owner' } })
    if (owners === 1) throw errors.lastOwner()
  }
  return found
}

export const people = router({ list: listPeople, get: getPerson, invite, withdraw, setRole, remove })
