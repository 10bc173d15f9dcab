import type { BenchedRoute } from './routes.ts'

/** `me/*`, each beside the plainest statement that answers it: pg parses the rows. */
export const memberRoutes: Record<string, BenchedRoute> = {
  profile: {
    target: 1.6,
    reached: 2,
    method: 'GET',
    path: () => '/v1/me/profile',
    procedure: { path: 'me.profile' },
    async bare(pool, { member }) {
      const { rows } = await pool.query({
        name: 'profile',
        text: 'SELECT id, "firstName", "lastName", email, birthday::text, image FROM "Person" WHERE id = $1',
        values: [member],
      })
      return JSON.stringify(rows[0])
    },
  },

  events: {
    target: 1.4,
    reached: 2.1,
    method: 'GET',
    path: () => '/v1/me/events',
    procedure: { path: 'me.events' },
    async bare(pool, { member, club }) {
      const start = new Date()
      const { rows } = await pool.query({
        name: 'events',
        text: `SELECT id, title, floor(extract(epoch FROM start))::float8 AS start,
            floor(extract(epoch FROM "end"))::float8 AS "end", location
          FROM "Event" event
          WHERE "clubId" = $1 AND state = 'published' AND "end" >= $3 AND start < $4 AND ("end" > $3 OR start >= $3)
            AND ("calendarId" IS NULL AND NOT EXISTS (SELECT FROM "EventGroup" WHERE "eventId" = event.id)
              OR EXISTS (SELECT FROM "Calendar" WHERE id = "calendarId" AND visible)
              OR EXISTS (SELECT FROM "EventGroup" JOIN "GroupMembership" USING ("groupId")
                WHERE "eventId" = event.id AND "personId" = $2))
          ORDER BY event.start, event."end", id`,
        values: [club, member, start, new Date(start.getTime() + 90 * 86_400_000)],
      })
      return JSON.stringify({ items: rows })
    },
  },

  groups: {
    target: 1.8,
    method: 'GET',
    path: () => '/v1/me/groups',
    procedure: { path: 'me.groups' },
    async bare(pool, { member, club }) {
      const { rows } = await pool.query({
        name: 'groups',
        text: `SELECT id, name, max(role) AS role FROM "Group" JOIN "GroupMembership" ON "groupId" = id
          WHERE "clubId" = $1 AND "personId" = $2 GROUP BY id ORDER BY name, id`,
        values: [club, member],
      })
      return JSON.stringify({ items: rows })
    },
  },

  plans: {
    target: 1.8,
    method: 'GET',
    path: () => '/v1/me/trainingplans',
    procedure: { path: 'me.trainingplans' },
    async bare(pool, { member, club }) {
      const { rows } = await pool.query({
        name: 'plans',
        text: `SELECT id, name, category, description,
            (SELECT count(*)::int FROM "Exercise" WHERE "planId" = plan.id) AS "exerciseCount", "group"
          FROM "TrainingPlan" plan JOIN
            (SELECT DISTINCT ON ("planId") "planId", "groupId" AS "group"
             FROM "PlanAssignment" JOIN "GroupMembership" USING ("groupId") WHERE "clubId" = $1 AND "personId" = $2
             ORDER BY "planId", role, "groupId") assigned ON "planId" = id
          ORDER BY name, id`,
        values: [club, member],
      })
      return JSON.stringify({ items: rows })
    },
  },

  competitions: {
    target: 1.8,
    method: 'GET',
    path: () => '/v1/me/competitions',
    procedure: { path: 'me.competitions' },
    async bare(pool, { member, club }) {
      const { rows } = await pool.query({
        name: 'competitions',
        text: `SELECT result.id, "competitionId", competition.name AS competition, "disciplineId", place, score,
            floor(extract(epoch FROM result.timestamp))::float8 AS timestamp
          FROM "CompetitionResult" result JOIN "Competition" competition ON competition.id = "competitionId"
          WHERE "personId" = $2 AND place IS NOT NULL AND ("hostId" = $1
            OR EXISTS (SELECT FROM "Participation" WHERE "competitionId" = competition.id AND "clubId" = $1))
          ORDER BY result.timestamp DESC, result.id`,
        values: [club, member],
      })
      return JSON.stringify({ items: rows })
    },
  },

  card: {
    target: 1.8,
    method: 'GET',
    path: () => '/v1/me/membercard',
    procedure: { path: 'me.membercard' },
    async bare(pool, { member, club }) {
      const { rows } = await pool.query({
        name: 'card',
        text: `SELECT serial, status, name, "memberNumber", departments, "validUntil"::text FROM "MemberCard"
          WHERE "clubId" = $1 AND "personId" = $2 AND "validUntil" IS NOT NULL
          ORDER BY "issuedAt" DESC, serial DESC LIMIT 1`,
        values: [club, member],
      })
      const [card] = rows
      if (!card) return '{"card":null}'
      const valid = card.status === 'valid' && card.validUntil >= new Date().toISOString().slice(0, 10)
      return JSON.stringify({ card: { ...card, valid } })
    },
  },
}
