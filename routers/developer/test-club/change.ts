import type { ClientBase } from 'pg'
import { z } from 'zod'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { bool, instant, statement, text } from '../../../prisma/pg/statement.ts'
import { endKeys } from '../../directory/end.ts'
import { mergeRecords, repeated } from '../../directory/merge.ts'
import type { RecordTypeName } from '../../directory/record-types.ts'
import { findRecordType } from '../../directory/record-types.ts'
import { toLayout } from '../../directory/sql.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { roleIn } from '../access/roles.ts'
import { toAuthor, writeEntry } from '../audit/record.ts'
import { idOr } from '../shared/schemas.ts'
import { beginChange } from './begin.ts'
import { people } from './content.ts'

/**
 * A member's places, without that at the provider: it lets its members read the app's events. None of a person whom the platform has
 * also put elsewhere.
 */
const found = statement(
  'test_member_places',
  `SELECT organisation.id AS organisation, "lastName", "leftAt" IS NULL OR "leftAt" > $now AS belongs
    FROM "Organisation" organisation JOIN "Membership" ON "organisationId" = organisation.id
      JOIN "Person" person ON person.id = "personId"
    WHERE "testTeamId" = $team AND kind <> 'provider' AND "personId" = $member AND NOT EXISTS (
        SELECT FROM "Membership" other JOIN "Organisation" elsewhere ON elsewhere.id = other."organisationId"
        WHERE other."personId" = $member AND elsewhere."testTeamId" IS DISTINCT FROM $team)
    ORDER BY organisation.id`,
  { team: text, member: text, now: instant },
  { organisation: text, lastName: text, belongs: bool },
)

type Place = ReturnType<typeof found.decode>

const merge = async (client: ClientBase, name: RecordTypeName, records: readonly object[], now: Date) => {
  const incoming = records.map((record, line) => ({ line, record }))
  return (await mergeRecords(client, name, incoming, { owner: 'team', now })).changed
}

/** Each resolves to the number of changed records. */
const changes = {
  profile: (client: ClientBase, [place]: Place[], member: string, now: Date) => {
    const other = place!.lastName === people.alex.lastName ? 'Sample' : people.alex.lastName
    return merge(client, 'people', [{ id: member, lastName: other }], now)
  },
  left: (client: ClientBase, places: Place[], member: string, now: Date) => {
    const keys = places.map(({ organisation }) => ({ organisationId: organisation, personId: member }))
    const layout = toLayout(findRecordType('memberships'), 'team')
    return repeated(client, () => endKeys(client, layout, now, keys))
  },
  joined: (client: ClientBase, places: Place[], member: string, now: Date) => {
    const ended = places.filter(({ belongs }) => !belongs)
    const records = ended.map(({ organisation }) => ({ organisation, person: member }))
    return merge(client, 'memberships', records, now)
  },
}

/** With the writes of the directory, so that apps hear of it as in production. */
export const change = internal('dev:write', teamPeople, {
  summary: "Changes a member of a team's test club: their name, or whether they belong to club and academy",
  fails: ['teamUnknown', 'personUnknown', 'changedMeanwhile'],
})
  .input(
    z.object({
      team: idOr('teamUnknown'),
      member: idOr('personUnknown'),
      change: z
        .enum(['profile', 'left', 'joined'])
        .meta({ description: '`left` is refused for a member who has left, `joined` for one who belongs there' }),
    }),
  )
  .output(z.object({ member: z.string() }))
  .mutation(async ({ ctx, input: { team, member, change } }) => {
    await roleIn(ctx, team)
    const { core } = ctx
    const author = toAuthor(ctx)
    await core.db.inTransaction(async (client) => {
      await beginChange(client, ctx, team)
      const places = await executeIn(client, found, { team, member, now: author.at })
      if (places.length === 0) throw errors.personUnknown()
      if ((await changes[change](client, places, member, author.at)) === 0) throw errors.changedMeanwhile()
      await writeEntry(client, author, { team, action: 'testClub.change', target: member, after: { change } })
    })
    core.due.wake()
    return { member }
  })
