import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { instant, int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { personLabel } from '../../kernel/labels.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { roleIn } from '../access/roles.ts'
import { idOr, invitationOutput, more, personOutput, testMember } from '../shared/schemas.ts'

const team = idOr('teamUnknown')

/** Above a team's limit (invitations.ts). */
const MAX_INVITATIONS = 200

const role = oneOf('owner', 'developer')
const person = { id: text, name: text, email: text, role, since: int }
const PERSON = `SELECT person.id, ${personLabel('person')} AS name, email, role, ${unix('since')} AS since
  FROM "TeamMember" member JOIN "Person" person ON person.id = "personId" WHERE "teamId" = $team`

const statements = {
  one: statement('person_of_team', `${PERSON} AND "personId" = $person`, { team: text, person: text }, person),
  people: statement(
    'people_of_team',
    `${PERSON} ORDER BY member.since, "personId" LIMIT $limit::int8 OFFSET $offset::int8`,
    { team: text, limit: int, offset: int },
    person,
  ),
  invitations: statement(
    'invitations_of_team',
    `SELECT invitation.id, invitation.email, role, ${unix('"expiresAt"')} AS "expiresAt",
        (SELECT ${personLabel('"Person"')} FROM "Person" WHERE id = "invitedBy") AS "invitedBy"
      FROM "TeamInvitation" invitation WHERE "teamId" = $team AND "acceptedAt" IS NULL AND invitation."expiresAt" > $now::timestamptz
      ORDER BY invitation."expiresAt", id LIMIT ${MAX_INVITATIONS}`,
    { team: text, now: instant },
    { id: text, email: text, role, expiresAt: int, invitedBy: nullable(text) },
  ),
  testMembers: statement(
    'test_members_of_team',
    `SELECT id, ${personLabel('"Person"')} AS name FROM "Person" WHERE id IN (SELECT "personId" FROM "Membership"
        JOIN "Organisation" ON "Organisation".id = "organisationId" WHERE "testTeamId" = $team)
      ORDER BY "firstName", id`,
    { team: text },
    { id: text, name: text },
  ),
}

export const invitations = z.array(invitationOutput).meta({ description: 'Invitations that can still be accepted' })
export const testMembers = z.array(testMember).meta({ description: 'Empty before the first sandbox client' })

export const listPeople = internal('dev:read', teamPeople, {
  summary: 'The people of a team, and who is invited',
  fails: ['teamUnknown'],
})
  .input(z.object({ team, ...page }))
  .output(z.object({ items: z.array(personOutput), more, invitations }))
  .query(async ({ ctx, input: { team, limit, offset } }) => {
    await roleIn(ctx, team)
    const { db, now } = ctx.core
    const [rows, invitations] = await Promise.all([
      listTeamPeople(db, team, { take: limit + 1, skip: offset }),
      listInvitations(db, team, now()),
    ])
    return { items: rows.slice(0, limit), more: rows.length > limit, invitations }
  })

export const getPerson = internal('dev:read', teamPeople, {
  summary: 'A person of a team',
  fails: ['teamUnknown', 'colleagueUnknown'],
})
  .input(z.object({ team, person: idOr('colleagueUnknown') }))
  .output(personOutput)
  .query(async ({ ctx, input: { team: teamId, person: personId } }) => {
    await roleIn(ctx, teamId)
    const [found] = await ctx.core.db.execute(statements.one, { team: teamId, person: personId })
    if (!found) throw errors.colleagueUnknown()
    return found
  })

export const listTeamPeople = (db: Database, team: string, { take, skip = 0 }: { take: number; skip?: number }) =>
  db.execute(statements.people, { team, limit: take, offset: skip })

export const listInvitations = (db: Database, team: string, now: number) =>
  db.execute(statements.invitations, { team, now })

export const listTestMembers = (db: Database, team: string) => db.execute(statements.testMembers, { team })
