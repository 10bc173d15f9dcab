/** Each team may send 10,000 requests a minute; with this many, the load stays below that. */
export const TENANTS = 96
/** Entries of each tenant in the collection `bench`: the default page size of a list. */
export const ENTRIES = 50
export const VALUE = JSON.stringify({
  title: 'Intervals',
  rounds: 6,
  rest: 90,
  done: [true, false, null],
  note: 'x'.repeat(150),
})

const ORGANISATIONS = `
  INSERT INTO "Organisation" (id, kind, name)
    VALUES ('club', 'club', 'Club'), ('academy', 'academy', 'Academy'), ('provider', 'provider', 'Provider');
  INSERT INTO "Person" (id, "firstName", "lastName", email, birthday)
    VALUES ('member', 'Mia', 'Member', 'mia@example.org', '1970-01-01');
  INSERT INTO "Membership" ("organisationId", "personId") SELECT id, 'member' FROM "Organisation"`

const APPS = `
  CREATE TEMPORARY VIEW one AS SELECT 'tenant-' || n AS id FROM generate_series(0, ${TENANTS - 1}) n;
  INSERT INTO "Team" (id, name, level) SELECT id, id, 'developer' FROM one;
  INSERT INTO "App" (id, name, "teamId", "providerId") SELECT id, id, id, 'provider' FROM one;
  INSERT INTO "Client" (id, name, "teamId", "appId", environment) SELECT id, id, id, id, 'production' FROM one;
  SELECT put.outcome FROM one, generate_series(0, ${ENTRIES - 1}) n,
    storage_write(one.id, 'club', '', 'bench', 'key-' || n, '${VALUE}', gen_random_uuid(), now(), 10485760, NULL, NULL, NULL, false) put;
  DROP VIEW one`

/** Data for `me/*`: 3 groups, 20 visible events, 6 plans, 10 results and a card. */
const OF_MEMBER = `
  INSERT INTO "Group" (id, "clubId", name) SELECT 'group-' || n, 'club', 'Group ' || n FROM generate_series(0, 4) n;
  INSERT INTO "GroupMembership" ("groupId", "personId", role)
    VALUES ('group-0', 'member', 'trainer'), ('group-1', 'member', 'member'), ('group-2', 'member', 'member');
  INSERT INTO "Calendar" (id, "clubId", name, visible) VALUES ('calendar', 'club', 'Calendar', true);
  INSERT INTO "Event" (id, "clubId", title, location, state, start, "end", "calendarId")
    SELECT 'event-' || n, 'club', 'Training ' || n, 'Boathouse', 'published', now() + (n + 24) * interval '1 hour',
      now() + (n + 26) * interval '1 hour', CASE WHEN n % 3 = 0 THEN 'calendar' END FROM generate_series(0, 23) n;
  -- Four are for a group that the member is not in.
  INSERT INTO "EventGroup" ("eventId", "groupId", "clubId")
    SELECT 'event-' || n, CASE n % 2 WHEN 0 THEN 'group-0' ELSE 'group-3' END, 'club'
    FROM generate_series(0, 23) n WHERE n % 3 = 1;
  INSERT INTO "TrainingPlan" (id, "clubId", name, category, description)
    SELECT 'plan-' || n, 'club', 'Plan ' || n, 'Fitness', 'Row.' FROM generate_series(0, 5) n;
  INSERT INTO "Exercise" ("planId", position, name) SELECT 'plan-' || n % 6, n, 'Row' FROM generate_series(0, 59) n;
  INSERT INTO "PlanAssignment" ("planId", "groupId", "clubId")
    SELECT 'plan-' || n, 'group-' || n % 3, 'club' FROM generate_series(0, 5) n;
  INSERT INTO "Competition" (id, "hostId", name) VALUES ('regatta', 'club', 'Regatta');
  INSERT INTO "Discipline" (id, name) VALUES ('single', 'Single scull');
  INSERT INTO "CompetitionResult" (id, "competitionId", "disciplineId", "personId", place, score, timestamp)
    SELECT 'result-' || n, 'regatta', 'single', 'member', n + 1, n + 0.5, now() - n * interval '1 hour'
    FROM generate_series(0, 9) n;
  INSERT INTO "MemberCard" (serial, "clubId", "personId", status, name, "memberNumber", departments, "validUntil")
    VALUES ('C-1', 'club', 'member', 'valid', 'Mia Member', '1042', '{Rowing,Sailing}', now() + interval '1 year')`

/** Six single choices, then two multiple ones; part of a lesson, with any number of attempts. */
const QUIZ = `
  INSERT INTO "Lesson" (id, "academyId", title) VALUES ('lesson', 'academy', 'Lesson');
  INSERT INTO "Quiz" (id, "academyId", title, threshold, "lessonId", state)
    VALUES ('quiz', 'academy', 'Quiz', 60, 'lesson', 'released');
  INSERT INTO "Question" (id, "quizId", position, type, text, options, solution)
    SELECT 'q' || n, 'quiz', n, (CASE WHEN n < 6 THEN 'single' ELSE 'multiple' END)::"QuestionType", 'Which colour?',
      '{Red,Green,Blue}', CASE WHEN n < 6 THEN '{Red}'::text[] ELSE '{Red,Green}' END FROM generate_series(0, 7) n`

/**
 * The bare handlers have their own tables with the same entries: the service's tables have triggers that maintain sums and
 * numbers, and a handler that counts itself would count twice.
 */
const BARE = `
  CREATE SCHEMA bare;
  CREATE TABLE bare.entry (app text COLLATE "C", club text COLLATE "C", collection text COLLATE "C", key text COLLATE "C",
    value text NOT NULL, bytes int NOT NULL, growth int NOT NULL, "updatedAt" timestamptz NOT NULL,
    PRIMARY KEY (app, club, collection, key));
  CREATE TABLE bare.usage (app text, club text, bytes bigint NOT NULL, PRIMARY KEY (app, club)) WITH (fillfactor = 50);
  INSERT INTO bare.entry
    SELECT "appId", "clubId", collection, key, value, octet_length(value), 0, "updatedAt" FROM "StorageEntry";
  INSERT INTO bare.usage SELECT app, club, sum(bytes) FROM bare.entry GROUP BY app, club`

export const ROWS = [ORGANISATIONS, APPS, OF_MEMBER, QUIZ, BARE]
