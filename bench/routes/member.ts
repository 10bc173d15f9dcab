import type { BenchedRoute, Tenant } from './route.ts'

// biome-ignore lint/suspicious/noExplicitAny: rows of any statement
type Rows = any[]

const read = (
  name: string,
  path: string,
  text: string,
  values: (tenant: Tenant) => unknown[] = ({ club, member }) => [club, member],
  answer: (rows: Rows) => unknown = (items) => ({ items }),
): BenchedRoute => ({
  target: 1.5,
  method: 'GET',
  path: () => `/v1/me/${path}`,
  procedure: { path: `me.${path}` },
  async bare(pool, tenant) {
    const { rows } = await pool.query({ name, text, values: values(tenant) })
    return JSON.stringify(answer(rows))
  },
})

const PROFILE = 'SELECT id, "firstName", "lastName", email, birthday::text, image FROM "Person" WHERE id = $1'

const EVENTS = `SELECT id, title, floor(extract(epoch FROM start))::float8 AS start,
    floor(extract(epoch FROM "end"))::float8 AS "end", location
  FROM "Event" event
  WHERE "clubId" = $1 AND state = 'published' AND "end" >= $3 AND start < $4 AND ("end" > $3 OR start >= $3)
    AND ("calendarId" IS NULL AND NOT EXISTS (SELECT FROM "EventGroup" WHERE "eventId" = event.id)
      OR EXISTS (SELECT FROM "Calendar" WHERE id = "calendarId" AND visible)
      OR EXISTS (SELECT FROM "EventGroup" JOIN "GroupMembership" USING ("groupId")
        WHERE "eventId" = event.id AND "personId" = $2))
  ORDER BY event.start, event."end", id`

function eventValues({ club, member }: Tenant) {
  const start = new Date()
  return [club, member, start, new Date(start.getTime() + 90 * 86_400_000)]
}

const GROUPS = `SELECT id, name, max(role) AS role FROM "Group" JOIN "GroupMembership" ON "groupId" = id
  WHERE "clubId" = $1 AND "personId" = $2 GROUP BY id ORDER BY name, id`

const PLANS = `SELECT id, name, category, description,
    (SELECT count(*)::int FROM "Exercise" WHERE "planId" = plan.id) AS "exerciseCount", "group"
  FROM "TrainingPlan" plan JOIN
    (SELECT DISTINCT ON ("planId") "planId", "groupId" AS "group"
     FROM "PlanAssignment" JOIN "GroupMembership" USING ("groupId") WHERE "clubId" = $1 AND "personId" = $2
     ORDER BY "planId", role, "groupId") assigned ON "planId" = id
  ORDER BY name, id`

const COMPETITIONS = `SELECT result.id, "competitionId", competition.name AS competition, "disciplineId", place, score,
    floor(extract(epoch FROM result.timestamp))::float8 AS timestamp
  FROM "CompetitionResult" result JOIN "Competition" competition ON competition.id = "competitionId"
  WHERE "personId" = $2 AND place IS NOT NULL AND ("hostId" = $1
    OR EXISTS (SELECT FROM "Participation" WHERE "competitionId" = competition.id AND "clubId" = $1))
  ORDER BY result.timestamp DESC, result.id`

const CARD = `SELECT serial, status, name, "memberNumber", departments, "validUntil"::text FROM "MemberCard"
  WHERE "clubId" = $1 AND "personId" = $2 AND "validUntil" IS NOT NULL
  ORDER BY "issuedAt" DESC, serial DESC LIMIT 1`

function toCard([card]: Rows) {
  if (!card) return { card: null }
  const valid = card.status === 'valid' && card.validUntil >= new Date().toISOString().slice(0, 10)
  return { card: { ...card, valid } }
}

const first = ([row]: Rows) => row

/** `me/*`, each compared with the plainest statement that answers it: pg parses the rows. */
export const memberRoutes: Record<string, BenchedRoute> = {
  profile: { ...read('profile', 'profile', PROFILE, ({ member }) => [member], first), target: 1.4, reached: 2 },
  events: { ...read('events', 'events', EVENTS, eventValues), target: 1.2, reached: 2.1 },
  groups: read('groups', 'groups', GROUPS),
  plans: read('plans', 'trainingplans', PLANS),
  competitions: read('competitions', 'competitions', COMPETITIONS),
  card: read('card', 'membercard', CARD, undefined, toCard),
}
