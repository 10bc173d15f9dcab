import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { nullable, statement, text } from '../../../prisma/pg/statement.ts'
import { isPostgresText } from '../../kernel/access.ts'
import { internal } from '../../kernel/endpoint.ts'
import { withError } from '../../kernel/errors.ts'
import { appId } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { eventTypeList, listEventTypes, readExample } from '../../webhooks/event-catalogue.ts'
import { eventTypes, testEventType } from '../../webhooks/event-types.ts'
import { EVENT_TYPE } from '../../webhooks/rules.ts'
import { findWebhookApp } from './app.ts'
import { publishTestEvent } from './test-event.ts'

const type = z
  .string(withError('eventTypeUnknown'))
  .trim()
  .regex(EVENT_TYPE, withError('eventTypeUnknown'))
  .default(testEventType.type)
  .meta({ description: 'A type from the catalogue; its example is sent, with ids of the test club' })

const address = z.string().refine(isPostgresText, withError('eventAddressUnknown')).optional()

export const kinds = internal('dev:read', teamPeople, {
  summary: "An app's event catalogue",
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app: appId('app') }))
  .output(eventTypeList)
  .query(async ({ ctx, input: { app } }) => {
    const { providerId } = await findWebhookApp(ctx, app)
    return { items: await listEventTypes(ctx.core.db, providerId) }
  })

/** Ids that the examples name. The quiz is one that is reviewed. */
const ids = statement(
  'test_club_ids',
  `SELECT club.id AS "organisationId", academy.id AS "academyId", member.id AS "memberId", quiz.id AS "quizId",
      (SELECT id FROM "QuizResult" WHERE "quizId" = quiz.id AND "personId" = member.id
        ORDER BY "submittedAt" DESC LIMIT 1) AS "resultId"
    FROM "Organisation" club
      LEFT JOIN "Organisation" academy ON academy."testTeamId" = $team AND academy.kind = 'academy'
      LEFT JOIN LATERAL (SELECT "personId" AS id FROM "Membership" JOIN "Person" person ON person.id = "personId"
        WHERE "organisationId" = club.id AND "leftAt" IS NULL ORDER BY "firstName", person.id LIMIT 1) member ON true
      LEFT JOIN LATERAL (SELECT id FROM "Quiz" WHERE "academyId" = academy.id AND EXISTS (
        SELECT FROM "Question" WHERE "quizId" = "Quiz".id AND type NOT IN ('single', 'multiple'))
        ORDER BY id LIMIT 1) quiz ON true
    WHERE club."testTeamId" = $team AND club.kind = 'club'`,
  { team: text },
  {
    organisationId: text,
    academyId: nullable(text),
    memberId: nullable(text),
    quizId: nullable(text),
    resultId: nullable(text),
  },
)

/** The example of a type, as JSON text; one of the service's own has ids of the team's test club, as far as it is filled. */
async function readTestData(db: Database, { team, provider, type }: { team: string; provider: string; type: string }) {
  const own = eventTypes.find((one) => one.type === type)
  if (!own) return readExample(db, provider, type)
  const [found] = await db.execute(ids, { team })
  const known: Record<string, string | null> = found ?? {}
  const named = Object.entries(own.example as object).map(([name, value]) => [name, known[name] ?? value])
  return JSON.stringify(Object.fromEntries(named))
}

/** The same worker delivers it, with the same signature and retries, and it appears in the same log. */
export const test = internal('dev:write', teamPeople, {
  summary: "Sends a test event to an app's webhook, or to one of its addresses, and to nobody else",
  fails: [
    ...(['ownAppUnknown', 'levelTooLow', 'appSuspended', 'webhookMissing', 'eventTypeUnknown'] as const),
    ...(['eventAddressUnknown', 'eventAddressEnded'] as const),
  ],
})
  .input(z.object({ app: appId('app'), type, address }))
  .output(z.object({ delivery: z.string() }))
  .mutation(async ({ ctx, input: { app, type, address } }) => {
    const { providerId, teamId: team } = await findWebhookApp(ctx, app)
    const { core } = ctx
    const data = await readTestData(core.db, { team, provider: providerId, type })
    const made = await core.db.$transaction((tx) =>
      publishTestEvent(tx, ctx, { id: app, team }, { type, data, address }),
    )
    core.published(made)
    return { delivery: made.deliveries[0]! }
  })
