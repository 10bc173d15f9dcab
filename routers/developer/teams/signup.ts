import { z } from 'zod'
import { TeamRequestState } from '../../../prisma/generated/enums.ts'
import { int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { teamSignups } from '../../kernel/team-signup.ts'
import { textFault } from '../../kernel/text-input.ts'
import { unix } from '../../kernel/time.ts'
import type { Caller } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { queueToPerson } from '../mails/queue.ts'
import { readTeamRequest } from '../reviews/stored.ts'
import { stateAfter } from '../reviews/transitions.ts'
import { newId } from '../shared/names.ts'
import { MAX_PURPOSE } from '../shared/purposes.ts'
import { nameFaults } from '../shared/registration.ts'
import { nameInput, typed } from '../shared/schemas.ts'
import { fault, refuseIf } from '../shared/validation.ts'
import { foundTeam, holdFounder, MAX_TEAMS } from './new-team.ts'

const own = statement(
  'team_request_of_person',
  `SELECT id, name, purpose, state, reason, ${unix('"requestedAt"')} AS "requestedAt", ${unix('"refusedAt"')} AS "refusedAt"
    FROM "TeamRequest" WHERE "personId" = $person`,
  { person: text },
  {
    id: text,
    name: text,
    purpose: text,
    state: oneOf(...Object.values(TeamRequestState)),
    reason: nullable(text),
    requestedAt: int,
    refusedAt: nullable(int),
  },
)

const time = z.int().meta({ description: 'Unix seconds' })
const request = z.object({
  id: z.string().meta({ description: 'That of the team, once it is approved' }),
  name: z.string(),
  purpose: z.string(),
  state: z.enum(TeamRequestState),
  requestedAt: time,
  reason: z.string().nullable().meta({ description: 'Why the operator refused' }),
  refusedAt: time.nullable(),
})

const findOwn = async ({ core, person }: Caller) => {
  const [found] = await core.db.execute(own, { person })
  return found ?? null
}

export const signup = internal('dev:read', teamPeople, { summary: 'How the person gets a team of their own' })
  .output(
    z.object({
      mode: z.enum(teamSignups).meta({ description: 'open: teams.create; request: teams.request; closed: neither' }),
      request: request.nullable().meta({ description: 'Pending, or refused and not sent again' }),
    }),
  )
  .query(async ({ ctx }) => ({ mode: ctx.core.teamSignup, request: await findOwn(ctx) }))

const made = z.object({ id: z.string(), name: z.string() })

export const create = internal('dev:write', teamPeople, {
  summary: `Creates a Hobby team whose owner the person is, who owns at most ${MAX_TEAMS}; where TEAM_SIGNUP is open`,
  fails: ['teamSignupClosed', 'personUnknown', 'tooManyTeams'],
})
  .input(z.object({ name: nameInput }))
  .output(made)
  .mutation(async ({ ctx, input: { name } }) => {
    if (ctx.core.teamSignup !== 'open') throw errors.teamSignupClosed()
    refuseIf(nameFaults('team', { name }))
    const author = toAuthor(ctx)
    const team = { id: newId('t'), name }
    return auditing(ctx.core.db, author, async (tx, note) => {
      await holdFounder(tx, ctx.person)
      await foundTeam(tx, note, { ...team, person: ctx.person, author })
      return team
    })
  })

export const requestTeam = internal('dev:write', teamPeople, {
  summary: 'Asks the operator for a team, one at a time; where TEAM_SIGNUP is request',
  fails: ['teamSignupClosed', 'personUnknown', 'tooManyTeams', 'teamRequestPending'],
})
  .input(z.object({ name: nameInput, purpose: typed.meta({ minLength: 1, maxLength: MAX_PURPOSE }) }))
  .output(request)
  .mutation(async ({ ctx, input: { name, purpose } }) => {
    if (ctx.core.teamSignup !== 'request') throw errors.teamSignupClosed()
    refuseIf([
      ...nameFaults('team', { name }),
      ...(textFault(purpose, MAX_PURPOSE) ? [fault('purpose', 'teamPurpose')] : []),
    ])
    const { person } = ctx
    const at = new Date(ctx.core.now())
    await ctx.core.db.$transaction(async (tx) => {
      await holdFounder(tx, person)
      const before = await tx.teamRequest.findUnique({ where: { personId: person } })
      if (stateAfter(readTeamRequest(before), 'request') === undefined) throw errors.teamRequestPending()
      const asked = { name, purpose, state: 'requested' as const, requestedAt: at }
      await tx.teamRequest.upsert({
        where: { personId: person },
        create: { id: newId('t'), personId: person, ...asked },
        update: { ...asked, reason: null, refusedAt: null, version: { increment: 1 } },
        select: { id: true },
      })
      await queueToPerson(tx, { kind: 'requestReceived', person, about: { name, isTeam: true }, at })
    })
    return (await findOwn(ctx))!
  })

export const withdrawRequest = internal('dev:write', teamPeople, {
  summary: 'Withdraws the pending request for a team',
  fails: ['teamRequestUnknown'],
})
  .output(z.object({ id: z.string() }))
  .mutation(({ ctx }) =>
    ctx.core.db.$transaction(async (tx) => {
      const found = await tx.teamRequest.findUnique({ where: { personId: ctx.person } })
      if (!found || stateAfter(readTeamRequest(found), 'withdraw') === undefined) throw errors.teamRequestUnknown()
      const { count } = await tx.teamRequest.deleteMany({
        where: { id: found.id, version: found.version, state: found.state },
      })
      if (count === 0) throw errors.teamRequestUnknown()
      return { id: found.id }
    }),
  )
