-- All that existed before 1.0. A database with the migrations that this one replaces gets its row alone.
-- replaces 20261121000000_tables 6d6b9bbea9aa945053b7e8cf6095154112228617d2472d07251121daa37540df
-- replaces 20261121000001_functions_and_checks eb0d562550d71899084fdbd0ecccb047a331c1bab3645c2d17e312aa20a28012
-- replaces 20261122000000_storage_collections fcdf58a015908ec8f64beca8f422cf69f9908a970cd021da388e910b9c0e9e37
-- replaces 20261122000001_housekeeping ebd14582c5fd47ee58752336c8a6fe6dd5911d716b54c51e49837dd232bed4d3
-- replaces 20261122000001_storage_collection_entries fa22e52420b95b2841f759df530f4fdd145befd9758678506e107d30cd09a1d7
-- replaces 20261122000002_sharding_by_club 3de07420ec9eee9a65c0d2866a94ca4fadd37019a71379ac788f0fe43fbce896
-- replaces 20261122000003_consents_withdrawn 2882fc3765981815cac9b33a9819572721a400e39af7dbbf209cbbd84c1716b2
-- replaces 20261122000004_consents_outlived 7a16046543848b4282846a20bd70ea00999c42e0e9405eb98bae433e9ef56dde
-- replaces 20261122000005_apps_described b5cbe35f635e11cb45ee05ba879849c183e241a3a0cea445cc8b1595d34ad28d
-- replaces 20261122000005_clients_reviewed 339e49c993c1ba75f8bb6d8c4d4e5bfdf9e77d0247bddd1be191361431c8cf28
-- replaces 20261122000005_team_people 7685b93d6f662bbfd901186a9c94d5e8078dcc0066206d6cc06de6a941ded581
-- replaces 20261122000005_test_clubs e05a9343b37f4f6f22862386c692b2709ecfdd761e6ae50e81de147d019456eb
-- replaces 20261122000006_request_log b808ec2ff74dab44c14b2d2a0f291a6ece06f2a2ebf0ede3a4ad508183af26cd
-- replaces 20261122000007_delivery_attempted 6d65c28ed92afc0386332af1230deffae1236f58cc1f489c32d947c5d405b420
-- replaces 20261122000007_delivery_failed 7f95d823fab675c54de2d410ac0153bcd3581c57391de83c212dc8bc1154c518
-- replaces 20261122000007_test_subscription 5bc64f78ed216bad9d5d2cf5177f471a79426d2aa580e1dcb1b6387f48c8511d
-- replaces 20261122000008_logo_reviewed c542f41bb5f3125e126f6ae7f4a21af1acadab6b8448e69d430bd37a3cb74658
-- replaces 20261122000009_event_kinds 700470f89e684882c070549655da5a84e6e5241e533bec9ad529f65c581fc2d6
-- replaces 20261122000010_quiz_submit 10e691fbf417fbdfe5a2217ccef904fedea4f3022103076b0bb5a8b638feb89a
-- replaces 20261122000011_storage_put 191e9af67d71a65b57b5c3ff2747b1a85c8d039f7de513b1745d1ab5943725d6
-- replaces 20261124000000_invitations_offered 53dcf24d39a6675640796e6367a51d525c5b7bd61d05270178c037525d7bfdf9
-- replaces 20261124000001_audit_erasure cb8656a457c19d10da3089913b857d80fcc989dacabb3ef3c7723fc964d0723a
-- replaces 20261124000001_delivery_retried 8470ac46bb1f3292ecce96d9bee23c9187fe64cca4098254167b2a46da6b2e81
-- replaces 20261124000002_audit_of_person cf01b3649ad9c3d6707339dacbf1100cb2df27e799ac48ab437e15705863a1ec

-- Names: "Table_rule_check", "Table_rule_idx", "Table_rule_trigger"; functions and triggers are in prisma/functions.

-- Pages of large collections look expensive, so they were compiled first: 28 ms for a page that takes 0.3 ms. Who is not the owner
-- of the database may set it for the role.
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'Set jit = off for the role or the database.';
END $$;

CREATE TYPE "OrganisationKind" AS ENUM ('club', 'academy', 'provider');
CREATE TYPE "GroupRole" AS ENUM ('member', 'trainer');
CREATE TYPE "EventState" AS ENUM ('draft', 'published');
CREATE TYPE "Level" AS ENUM ('hobby', 'developer');
CREATE TYPE "AppState" AS ENUM ('active', 'suspended');
CREATE TYPE "Environment" AS ENUM ('production', 'sandbox');
CREATE TYPE "ClientType" AS ENUM ('web', 'native');
CREATE TYPE "QuizState" AS ENUM ('draft', 'released', 'closed');
CREATE TYPE "QuestionType" AS ENUM ('single', 'multiple', 'text', 'image', 'file');
CREATE TYPE "ReviewStatus" AS ENUM ('passed', 'failed', 'pending_review');
CREATE TYPE "DeliveryState" AS ENUM ('pending', 'delivered', 'failed');
CREATE TYPE "ClientState" AS ENUM ('active', 'requested');
CREATE TYPE "TeamRole" AS ENUM ('owner', 'developer');
CREATE TYPE "UsageSpan" AS ENUM ('minute', 'hour');

-- Rows of the platform that no answer could show would be 500 to each member who sees them: the checks refuse them
-- (test/verify/floods/hostile-data.test.ts). A function in a check never changes, as rows that passed it are not looked at
-- again: another rule is a function of another name.

-- A Date, and the dates of the documents, have years of four digits.
CREATE FUNCTION time_fits("time" timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN "time" >= '0001-01-01T00:00:00Z'::timestamptz AND "time" < '10000-01-01T00:00:00Z'::timestamptz;

-- Ids of the platform are 1 to 255 visible characters of any script, with spaces only between them: no control characters, no
-- other white space, none without a width. In storage '' stands for no member. In UTF-8 an id may take 1,020 bytes, and a row of
-- an index 2,704: no index has three such ids.
CREATE FUNCTION id_fits(id text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN char_length(id) BETWEEN 1 AND 255
  AND id !~ '^ | $|[\u0001-\u001f\u007f-\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]';

-- Lists of texts are flat and have no null among them; the texts of a row are at most 64 KiB together, as answers are not paged.
CREATE FUNCTION texts_fit(VARIADIC texts text[]) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (
  SELECT coalesce(array_ndims(texts), 1) = 1 AND count(*) = count(one)
    AND coalesce(sum(octet_length(one)), 0) <= 65536
  FROM unnest(texts) one
);

CREATE TABLE "Organisation" (
    "id" TEXT COLLATE "C" NOT NULL,
    "kind" "OrganisationKind" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,
    "testTeamId" TEXT COLLATE "C",

    CONSTRAINT "Organisation_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Organisation_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Organisation_texts_check" CHECK (texts_fit("name"))
);
CREATE INDEX "Organisation_testTeamId_idx" ON "Organisation"("testTeamId");

CREATE TABLE "Person" (
    "id" TEXT COLLATE "C" NOT NULL,
    "firstName" TEXT COLLATE "C" NOT NULL,
    "lastName" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "birthday" DATE,
    "image" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Person_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Person_birthday_check" CHECK ("birthday" BETWEEN '0001-01-01' AND '9999-12-31'),
    CONSTRAINT "Person_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Person_texts_check" CHECK (texts_fit("firstName", "lastName", "email", "image")),
    CONSTRAINT "Person_email_check" CHECK (octet_length("email") <= 1024)
);
-- Sign-in by e-mail compares addresses in lower case. "Person_email_check" bounds what the index holds.
CREATE INDEX "Person_lowerEmail_idx" ON "Person" (lower("email"));

CREATE TABLE "Membership" (
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leftAt" TIMESTAMPTZ(3),
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Membership_pkey" PRIMARY KEY ("organisationId","personId"),
    CONSTRAINT "Membership_time_check" CHECK (time_fits("joinedAt") AND time_fits("leftAt"))
);
CREATE INDEX "Membership_personId_idx" ON "Membership"("personId");

CREATE TABLE "Group" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Group_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Group_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Group_texts_check" CHECK (texts_fit("name"))
);
CREATE UNIQUE INDEX "Group_id_clubId_key" ON "Group"("id", "clubId");
CREATE INDEX "Group_clubId_idx" ON "Group"("clubId");

CREATE TABLE "GroupMembership" (
    "groupId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "role" "GroupRole" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "GroupMembership_pkey" PRIMARY KEY ("groupId","personId","role")
);
CREATE INDEX "GroupMembership_personId_idx" ON "GroupMembership"("personId");

CREATE TABLE "Calendar" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "visible" BOOLEAN NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Calendar_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Calendar_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Calendar_texts_check" CHECK (texts_fit("name"))
);
CREATE UNIQUE INDEX "Calendar_id_clubId_key" ON "Calendar"("id", "clubId");
CREATE INDEX "Calendar_clubId_idx" ON "Calendar"("clubId");

CREATE TABLE "Event" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "start" TIMESTAMPTZ(3) NOT NULL,
    "end" TIMESTAMPTZ(3) NOT NULL,
    "location" TEXT COLLATE "C" NOT NULL,
    "state" "EventState" NOT NULL DEFAULT 'draft',
    "calendarId" TEXT COLLATE "C",
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Event_end_check" CHECK ("end" >= "start"),
    CONSTRAINT "Event_time_check" CHECK (time_fits("start") AND time_fits("end")),
    CONSTRAINT "Event_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Event_texts_check" CHECK (texts_fit("title", "location"))
);
CREATE UNIQUE INDEX "Event_id_clubId_key" ON "Event"("id", "clubId");
CREATE INDEX "Event_clubId_end_idx" ON "Event"("clubId", "end");
CREATE INDEX "Event_calendarId_clubId_idx" ON "Event"("calendarId", "clubId");

CREATE TABLE "EventGroup" (
    "eventId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "EventGroup_pkey" PRIMARY KEY ("eventId","groupId")
);
CREATE INDEX "EventGroup_groupId_idx" ON "EventGroup"("groupId");

CREATE TABLE "TrainingPlan" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "category" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "TrainingPlan_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "TrainingPlan_id_check" CHECK (id_fits("id")),
    CONSTRAINT "TrainingPlan_texts_check" CHECK (texts_fit("name", "category", "description"))
);
CREATE UNIQUE INDEX "TrainingPlan_id_clubId_key" ON "TrainingPlan"("id", "clubId");
CREATE INDEX "TrainingPlan_clubId_idx" ON "TrainingPlan"("clubId");

CREATE TABLE "Exercise" (
    "planId" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Exercise_pkey" PRIMARY KEY ("planId","position"),
    CONSTRAINT "Exercise_texts_check" CHECK (texts_fit("name"))
);

CREATE TABLE "PlanAssignment" (
    "planId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "PlanAssignment_pkey" PRIMARY KEY ("planId","groupId")
);
CREATE INDEX "PlanAssignment_groupId_idx" ON "PlanAssignment"("groupId");

CREATE TABLE "Competition" (
    "id" TEXT COLLATE "C" NOT NULL,
    "hostId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Competition_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Competition_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Competition_texts_check" CHECK (texts_fit("name"))
);
CREATE INDEX "Competition_hostId_idx" ON "Competition"("hostId");

CREATE TABLE "Participation" (
    "competitionId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Participation_pkey" PRIMARY KEY ("competitionId","clubId")
);
CREATE INDEX "Participation_clubId_idx" ON "Participation"("clubId");

CREATE TABLE "Discipline" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Discipline_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Discipline_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Discipline_texts_check" CHECK (texts_fit("name"))
);

CREATE TABLE "CompetitionResult" (
    "id" TEXT COLLATE "C" NOT NULL,
    "competitionId" TEXT COLLATE "C" NOT NULL,
    "disciplineId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "place" INTEGER,
    "score" DOUBLE PRECISION NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "CompetitionResult_pkey" PRIMARY KEY ("id"),
    -- JSON has no NaN and no infinities.
    CONSTRAINT "CompetitionResult_score_check" CHECK ("score" NOT IN ('NaN', 'Infinity', '-Infinity')),
    CONSTRAINT "CompetitionResult_place_check" CHECK ("place" >= 1),
    CONSTRAINT "CompetitionResult_time_check" CHECK (time_fits("timestamp")),
    CONSTRAINT "CompetitionResult_id_check" CHECK (id_fits("id"))
);
CREATE INDEX "CompetitionResult_personId_timestamp_id_idx" ON "CompetitionResult"("personId", "timestamp" DESC, "id");
CREATE INDEX "CompetitionResult_competitionId_idx" ON "CompetitionResult"("competitionId");
CREATE INDEX "CompetitionResult_disciplineId_idx" ON "CompetitionResult"("disciplineId");

CREATE TABLE "MemberCard" (
    "serial" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "memberNumber" TEXT COLLATE "C" NOT NULL,
    "departments" TEXT[] COLLATE "C",
    "validUntil" DATE,
    "issuedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "MemberCard_pkey" PRIMARY KEY ("serial"),
    CONSTRAINT "MemberCard_time_check" CHECK (time_fits("issuedAt")),
    CONSTRAINT "MemberCard_validUntil_check" CHECK ("validUntil" BETWEEN '0001-01-01' AND '9999-12-31'),
    CONSTRAINT "MemberCard_serial_check" CHECK (id_fits("serial")),
    CONSTRAINT "MemberCard_texts_check" CHECK (texts_fit("status", "name", "memberNumber")),
    CONSTRAINT "MemberCard_departments_check" CHECK (texts_fit(VARIADIC "departments"))
);
CREATE INDEX "MemberCard_clubId_personId_idx" ON "MemberCard"("clubId", "personId");
CREATE INDEX "MemberCard_personId_idx" ON "MemberCard"("personId");

CREATE TABLE "Team" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "level" "Level" NOT NULL,

    CONSTRAINT "Team_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Team_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255)
);

CREATE TABLE "TeamMember" (
    "teamId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "role" "TeamRole" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "TeamMember_pkey" PRIMARY KEY ("teamId","personId")
);
CREATE INDEX "TeamMember_personId_idx" ON "TeamMember"("personId");

CREATE TABLE "TeamInvitation" (
    "id" TEXT COLLATE "C" NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "role" "TeamRole" NOT NULL,
    "invitedBy" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "acceptedAt" TIMESTAMPTZ(3),
    "personId" TEXT COLLATE "C",

    CONSTRAINT "TeamInvitation_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "TeamInvitation_teamId_idx" ON "TeamInvitation"("teamId");
CREATE INDEX "TeamInvitation_email_idx" ON "TeamInvitation"("email");
CREATE INDEX "TeamInvitation_invitedBy_idx" ON "TeamInvitation"("invitedBy");
CREATE INDEX "TeamInvitation_expiresAt_idx" ON "TeamInvitation"("expiresAt");
CREATE INDEX "TeamInvitation_personId_idx" ON "TeamInvitation"("personId");

CREATE TABLE "AuditEntry" (
    "id" BIGSERIAL NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C",
    "action" TEXT COLLATE "C" NOT NULL,
    "target" TEXT COLLATE "C" NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "AuditEntry_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "AuditEntry_teamId_id_idx" ON "AuditEntry"("teamId", "id");
CREATE INDEX "AuditEntry_personId_idx" ON "AuditEntry"("personId");
CREATE INDEX "AuditEntry_at_idx" ON "AuditEntry"("at");
-- What others changed about a person, for the export.
CREATE INDEX "AuditEntry_person_idx" ON "AuditEntry" ("target") WHERE "action" LIKE 'person.%';

CREATE TABLE "App" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "providerId" TEXT COLLATE "C" NOT NULL,
    "state" "AppState" NOT NULL DEFAULT 'active',
    "webhookUrl" TEXT COLLATE "C",
    "webhookSecret" TEXT COLLATE "C",
    "description" TEXT COLLATE "C",
    "homepage" TEXT COLLATE "C",
    "logo" BYTEA,
    "version" INTEGER NOT NULL DEFAULT 0,
    "wanted" JSONB,
    "wantedLogo" BYTEA,

    CONSTRAINT "App_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "App_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255),
    CONSTRAINT "App_webhookSecret_check" CHECK ("webhookSecret" IS NULL OR "webhookUrl" IS NOT NULL)
);
CREATE INDEX "App_teamId_idx" ON "App"("teamId");
CREATE INDEX "App_providerId_idx" ON "App"("providerId");

CREATE TABLE "Client" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "teamId" TEXT COLLATE "C",
    "appId" TEXT COLLATE "C",
    "environment" "Environment" NOT NULL,
    "type" "ClientType" NOT NULL DEFAULT 'web',
    "redirectUris" TEXT[] COLLATE "C",
    "scopes" TEXT[] COLLATE "C",
    "secretHash" TEXT COLLATE "C",
    "jwks" JSONB,
    "purpose" JSONB,
    "requestedAt" TIMESTAMPTZ(3),
    "state" "ClientState" NOT NULL DEFAULT 'active',
    "testOnly" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 0,
    "wanted" JSONB,

    CONSTRAINT "Client_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Client_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255),
    -- A first-party client has neither a team nor an app.
    CONSTRAINT "Client_firstParty_check" CHECK ("teamId" IS NOT NULL OR "appId" IS NULL),
    -- Clients of a team are public: only a first-party client has a secret or keys, and not both.
    CONSTRAINT "Client_credentials_check" CHECK (num_nonnulls("secretHash", "jwks") <= CASE WHEN "teamId" IS NULL THEN 1 ELSE 0 END)
);
CREATE INDEX "Client_teamId_id_idx" ON "Client"("teamId", "id");
CREATE INDEX "Client_appId_idx" ON "Client"("appId");

CREATE TABLE "StorageEntry" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "owner" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "memberId" TEXT COLLATE "C",
    "value" TEXT COLLATE "C" NOT NULL,
    "version" UUID NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StorageEntry_pkey" PRIMARY KEY ("appId","clubId","owner","collection","key"),
    CONSTRAINT "StorageEntry_time_check" CHECK (time_fits("updatedAt")),
    -- "owner" is part of the primary key, which cannot hold null; "memberId" is the same value for the foreign key.
    CONSTRAINT "StorageEntry_owner_check" CHECK ("owner" = coalesce("memberId", '')),
    CONSTRAINT "StorageEntry_collection_check" CHECK ("collection" ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT "StorageEntry_key_check" CHECK ("key" ~ '^[A-Za-z0-9_-]{1,64}$')
);
CREATE INDEX "StorageEntry_memberId_clubId_idx" ON "StorageEntry"("memberId", "clubId");

CREATE TABLE "StorageUsage" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "StorageUsage_pkey" PRIMARY KEY ("appId","clubId"),
    CONSTRAINT "StorageUsage_bytes_check" CHECK ("bytes" >= 0)
);
CREATE INDEX "StorageUsage_clubId_idx" ON "StorageUsage"("clubId");

-- Half of a page stays free for the next versions of its rows (HOT).
CREATE TABLE "StorageCollection" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "owner" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "entries" BIGINT NOT NULL,

    CONSTRAINT "StorageCollection_pkey" PRIMARY KEY ("appId","clubId","owner","collection")
) WITH (fillfactor = 50);

CREATE TABLE "Lesson" (
    "id" TEXT COLLATE "C" NOT NULL,
    "academyId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Lesson_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Lesson_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Lesson_texts_check" CHECK (texts_fit("title"))
);
CREATE UNIQUE INDEX "Lesson_id_academyId_key" ON "Lesson"("id", "academyId");
CREATE INDEX "Lesson_academyId_idx" ON "Lesson"("academyId");

CREATE TABLE "Quiz" (
    "id" TEXT COLLATE "C" NOT NULL,
    "academyId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "threshold" DOUBLE PRECISION NOT NULL,
    "lessonId" TEXT COLLATE "C",
    "state" "QuizState" NOT NULL DEFAULT 'draft',
    "attemptsAllowed" INTEGER,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Quiz_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Quiz_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Quiz_texts_check" CHECK (texts_fit("title")),
    CONSTRAINT "Quiz_threshold_check" CHECK ("threshold" BETWEEN 0 AND 100),
    CONSTRAINT "Quiz_attemptsAllowed_check" CHECK ("attemptsAllowed" >= 1)
);
CREATE INDEX "Quiz_academyId_idx" ON "Quiz"("academyId");
CREATE INDEX "Quiz_lessonId_academyId_idx" ON "Quiz"("lessonId", "academyId");

CREATE TABLE "Question" (
    "quizId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "type" "QuestionType" NOT NULL,
    "text" TEXT COLLATE "C" NOT NULL,
    "options" TEXT[] COLLATE "C",
    "solution" TEXT[] COLLATE "C",

    CONSTRAINT "Question_pkey" PRIMARY KEY ("quizId","id"),
    CONSTRAINT "Question_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Question_texts_check" CHECK (texts_fit("text")),
    CONSTRAINT "Question_options_check" CHECK (texts_fit(VARIADIC "options")),
    CONSTRAINT "Question_solution_check" CHECK (texts_fit(VARIADIC "solution")),
    -- Nobody could answer such a question right.
    CONSTRAINT "Question_offeredSolution_check" CHECK ("type" NOT IN ('single', 'multiple') OR coalesce("solution", '{}') <@ coalesce("options", '{}')),
    CONSTRAINT "Question_singleSolution_check" CHECK ("type" <> 'single' OR cardinality(coalesce("solution", '{}')) = 1)
);
CREATE UNIQUE INDEX "Question_quizId_position_key" ON "Question"("quizId", "position");

CREATE TABLE "QuizResult" (
    "id" TEXT COLLATE "C" NOT NULL,
    "quizId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "score" DOUBLE PRECISION NOT NULL,
    "passed" BOOLEAN NOT NULL,
    "reviewStatus" "ReviewStatus" NOT NULL,
    "gradedQuestions" INTEGER NOT NULL,
    "threshold" DOUBLE PRECISION NOT NULL,
    "submittedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "QuizResult_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "QuizResult_time_check" CHECK (time_fits("submittedAt")),
    CONSTRAINT "QuizResult_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255),
    CONSTRAINT "QuizResult_score_check" CHECK ("score" BETWEEN 0 AND 100 AND "threshold" BETWEEN 0 AND 100),
    CONSTRAINT "QuizResult_gradedQuestions_check" CHECK ("gradedQuestions" >= 0)
);
CREATE INDEX "QuizResult_quizId_personId_idx" ON "QuizResult"("quizId", "personId");
CREATE INDEX "QuizResult_personId_idx" ON "QuizResult"("personId");

CREATE TABLE "Answer" (
    "resultId" TEXT COLLATE "C" NOT NULL,
    "quizId" TEXT COLLATE "C" NOT NULL,
    "questionId" TEXT COLLATE "C" NOT NULL,
    "value" TEXT COLLATE "C",
    "correct" BOOLEAN,

    CONSTRAINT "Answer_pkey" PRIMARY KEY ("resultId","questionId")
);
CREATE INDEX "Answer_quizId_questionId_idx" ON "Answer"("quizId", "questionId");

CREATE TABLE "LessonCompletion" (
    "lessonId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "completedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "LessonCompletion_pkey" PRIMARY KEY ("lessonId","personId"),
    CONSTRAINT "LessonCompletion_time_check" CHECK (time_fits("completedAt"))
);
CREATE INDEX "LessonCompletion_personId_idx" ON "LessonCompletion"("personId");

CREATE TABLE "IdempotencyRecord" (
    "clientId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "quizId" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "bodyHash" TEXT COLLATE "C" NOT NULL,
    "answer" TEXT COLLATE "C" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "IdempotencyRecord_pkey" PRIMARY KEY ("clientId","personId","quizId","key")
);
CREATE INDEX "IdempotencyRecord_createdAt_idx" ON "IdempotencyRecord"("createdAt");
CREATE INDEX "IdempotencyRecord_personId_idx" ON "IdempotencyRecord"("personId");
CREATE INDEX "IdempotencyRecord_organisationId_idx" ON "IdempotencyRecord"("organisationId");
CREATE INDEX "IdempotencyRecord_quizId_idx" ON "IdempotencyRecord"("quizId");

CREATE TABLE "Consent" (
    "id" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "scopes" TEXT[] COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "withdrawnAt" TIMESTAMPTZ(3),

    CONSTRAINT "Consent_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "Consent_personId_createdAt_id_idx" ON "Consent"("personId", "createdAt", "id");
CREATE INDEX "Consent_clientId_idx" ON "Consent"("clientId");
CREATE INDEX "Consent_organisationId_idx" ON "Consent"("organisationId");
-- Consents are removed some time after they were withdrawn, and some time after their year has passed.
CREATE INDEX "Consent_withdrawn_idx" ON "Consent" ("withdrawnAt") WHERE "withdrawnAt" IS NOT NULL;
CREATE INDEX "Consent_outlived_idx" ON "Consent" ("createdAt") WHERE "withdrawnAt" IS NULL;

CREATE TABLE "OauthRecord" (
    "model" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "payload" JSONB NOT NULL,
    "grantId" TEXT COLLATE "C",
    "uid" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3),
    "consumedAt" TIMESTAMPTZ(3),

    CONSTRAINT "OauthRecord_pkey" PRIMARY KEY ("model","id")
);
CREATE INDEX "OauthRecord_grantId_idx" ON "OauthRecord"("grantId");
CREATE INDEX "OauthRecord_expiresAt_idx" ON "OauthRecord"("expiresAt");
CREATE UNIQUE INDEX "OauthRecord_model_uid_key" ON "OauthRecord"("model", "uid");
-- A person who is erased is signed out everywhere.
CREATE INDEX "OauthRecord_account_idx" ON "OauthRecord" (("payload" ->> 'accountId')) WHERE "model" = 'Session';

CREATE TABLE "SigningKey" (
    "kid" TEXT COLLATE "C" NOT NULL,
    "ciphertext" TEXT COLLATE "C" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "signsFrom" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SigningKey_pkey" PRIMARY KEY ("kid")
);

CREATE TABLE "ExternalKeySet" (
    "id" TEXT COLLATE "C" NOT NULL,
    "keySet" JSONB NOT NULL,

    CONSTRAINT "ExternalKeySet_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "LoginIdentity" (
    "issuer" TEXT COLLATE "C" NOT NULL,
    "subject" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "LoginIdentity_pkey" PRIMARY KEY ("issuer","subject")
);
CREATE INDEX "LoginIdentity_personId_idx" ON "LoginIdentity"("personId");

CREATE TABLE "LoginCode" (
    "interaction" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "hash" TEXT COLLATE "C" NOT NULL,
    "sender" TEXT COLLATE "C" NOT NULL,
    "mailed" BOOLEAN NOT NULL DEFAULT false,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "sentAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "LoginCode_pkey" PRIMARY KEY ("interaction")
);
CREATE INDEX "LoginCode_email_sentAt_idx" ON "LoginCode"("email", "sentAt");
CREATE INDEX "LoginCode_sender_sentAt_idx" ON "LoginCode"("sender", "sentAt");
CREATE INDEX "LoginCode_expiresAt_idx" ON "LoginCode"("expiresAt");

CREATE TABLE "Subscription" (
    "id" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "subscriber" TEXT COLLATE "C" NOT NULL,
    "url" TEXT COLLATE "C",
    "secret" TEXT COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),
    "test" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "Subscription_pkey" PRIMARY KEY ("id")
);
-- One of an app: its id is made of the app's. NOT VALID, as in databases of before this migration.
ALTER TABLE "Subscription" ADD CONSTRAINT "Subscription_test_check" CHECK (NOT "test" OR "id" = 'test:' || "appId") NOT VALID;
CREATE INDEX "Subscription_appId_createdAt_id_idx" ON "Subscription"("appId", "createdAt", "id");
-- Subscriptions that have ended are removed some time later.
CREATE INDEX "Subscription_ended_idx" ON "Subscription" ("endedAt") WHERE "endedAt" IS NOT NULL;

CREATE TABLE "PublishedEvent" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "body" TEXT COLLATE "C" NOT NULL,
    "publishedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PublishedEvent_pkey" PRIMARY KEY ("appId","id")
);
CREATE INDEX "PublishedEvent_publishedAt_appId_id_idx" ON "PublishedEvent"("publishedAt", "appId", "id");

CREATE TABLE "EventKind" (
    "providerId" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C" NOT NULL,
    "example" JSON NOT NULL,

    CONSTRAINT "EventKind_pkey" PRIMARY KEY ("providerId","type")
);

CREATE TABLE "Delivery" (
    "id" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "eventId" TEXT COLLATE "C" NOT NULL,
    "subscriptionId" TEXT COLLATE "C" NOT NULL,
    "state" "DeliveryState" NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "lastStatus" INTEGER,
    "lastError" TEXT COLLATE "C",
    "lastAnswer" TEXT COLLATE "C",
    "nextAttemptAt" TIMESTAMPTZ(3),
    "lease" TEXT COLLATE "C",
    "leasedUntil" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "finishedAt" TIMESTAMPTZ(3),
    "lastAttemptAt" TIMESTAMPTZ(3),

    CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Delivery_time_check" CHECK (time_fits("nextAttemptAt")),
    -- Only a pending delivery has a next attempt; a lease has an end.
    CONSTRAINT "Delivery_due_check" CHECK (("state" = 'pending') = ("nextAttemptAt" IS NOT NULL)),
    CONSTRAINT "Delivery_lease_check" CHECK (("lease" IS NULL) = ("leasedUntil" IS NULL))
);
CREATE INDEX "Delivery_eventId_appId_createdAt_id_idx" ON "Delivery"("eventId", "appId", "createdAt" DESC, "id");
CREATE INDEX "Delivery_subscriptionId_createdAt_id_idx" ON "Delivery"("subscriptionId", "createdAt" DESC, "id");
CREATE INDEX "Delivery_createdAt_id_idx" ON "Delivery"("createdAt" DESC, "id");
-- Workers look for due deliveries of a subscription, the oldest first, and for expired leases. With an index per
-- subscription, the backlog of one subscription does not delay the others.
CREATE INDEX "Delivery_claimable_idx" ON "Delivery" ("subscriptionId", "nextAttemptAt") WHERE "state" = 'pending' AND "lease" IS NULL;
CREATE INDEX "Delivery_leased_idx" ON "Delivery" ("leasedUntil") WHERE "lease" IS NOT NULL;
-- What failed of an app is listed and tried again. A delivery that arrives is never in it.
CREATE INDEX "Delivery_failed_idx" ON "Delivery" ("appId", "createdAt" DESC, "id") WHERE "state" = 'failed';
-- When a receiver was last tried that made deliveries wait. What arrives at the first attempt is never in it.
CREATE INDEX "Delivery_retried_idx" ON "Delivery" ("subscriptionId", "lastAttemptAt") WHERE "state" = 'pending' AND "attempts" > 0;

CREATE TABLE "RefusedRequest" (
    "id" BIGSERIAL NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "requestId" TEXT COLLATE "C" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "method" TEXT COLLATE "C" NOT NULL,
    "route" TEXT COLLATE "C",
    "status" INTEGER NOT NULL,
    "error" TEXT COLLATE "C" NOT NULL,
    "message" TEXT COLLATE "C",
    "ms" INTEGER NOT NULL,

    CONSTRAINT "RefusedRequest_pkey" PRIMARY KEY ("teamId","at","id")
);
CREATE INDEX "RefusedRequest_teamId_requestId_idx" ON "RefusedRequest"("teamId", "requestId");
CREATE INDEX "RefusedRequest_at_idx" ON "RefusedRequest"("at");

CREATE TABLE "ClientUsage" (
    "teamId" TEXT COLLATE "C" NOT NULL,
    "span" "UsageSpan" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "ok" INTEGER NOT NULL,
    "refused" INTEGER NOT NULL,
    "limited" INTEGER NOT NULL,

    CONSTRAINT "ClientUsage_pkey" PRIMARY KEY ("teamId","span","at","clientId")
);
CREATE INDEX "ClientUsage_span_at_idx" ON "ClientUsage"("span", "at");

CREATE TABLE "Housekeeping" (
    "name" TEXT COLLATE "C" NOT NULL,
    "nextAt" TIMESTAMPTZ(3) NOT NULL,
    "leasedUntil" TIMESTAMPTZ(3),
    "finishedAt" TIMESTAMPTZ(3),
    "removed" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Housekeeping_pkey" PRIMARY KEY ("name")
);

CREATE TABLE "SecretsKeyCheck" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "ciphertext" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "SecretsKeyCheck_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "SecretsKeyCheck_singleRow_check" CHECK ("id" = 1)
);

-- In this order: the deletion of a row follows its foreign keys in the order in which they were made.
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Group" ADD CONSTRAINT "Group_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "GroupMembership" ADD CONSTRAINT "GroupMembership_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "Group"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "GroupMembership" ADD CONSTRAINT "GroupMembership_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Calendar" ADD CONSTRAINT "Calendar_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Event" ADD CONSTRAINT "Event_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Event" ADD CONSTRAINT "Event_calendarId_clubId_fkey" FOREIGN KEY ("calendarId", "clubId") REFERENCES "Calendar"("id", "clubId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "EventGroup" ADD CONSTRAINT "EventGroup_eventId_clubId_fkey" FOREIGN KEY ("eventId", "clubId") REFERENCES "Event"("id", "clubId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "EventGroup" ADD CONSTRAINT "EventGroup_groupId_clubId_fkey" FOREIGN KEY ("groupId", "clubId") REFERENCES "Group"("id", "clubId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "TrainingPlan" ADD CONSTRAINT "TrainingPlan_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Exercise" ADD CONSTRAINT "Exercise_planId_fkey" FOREIGN KEY ("planId") REFERENCES "TrainingPlan"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "PlanAssignment" ADD CONSTRAINT "PlanAssignment_planId_clubId_fkey" FOREIGN KEY ("planId", "clubId") REFERENCES "TrainingPlan"("id", "clubId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "PlanAssignment" ADD CONSTRAINT "PlanAssignment_groupId_clubId_fkey" FOREIGN KEY ("groupId", "clubId") REFERENCES "Group"("id", "clubId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Competition" ADD CONSTRAINT "Competition_hostId_fkey" FOREIGN KEY ("hostId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Participation" ADD CONSTRAINT "Participation_competitionId_fkey" FOREIGN KEY ("competitionId") REFERENCES "Competition"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Participation" ADD CONSTRAINT "Participation_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_competitionId_fkey" FOREIGN KEY ("competitionId") REFERENCES "Competition"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_disciplineId_fkey" FOREIGN KEY ("disciplineId") REFERENCES "Discipline"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "App" ADD CONSTRAINT "App_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "App" ADD CONSTRAINT "App_providerId_fkey" FOREIGN KEY ("providerId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Client" ADD CONSTRAINT "Client_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Client" ADD CONSTRAINT "Client_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_clubId_memberId_fkey" FOREIGN KEY ("clubId", "memberId") REFERENCES "Membership"("organisationId", "personId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "StorageUsage" ADD CONSTRAINT "StorageUsage_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "StorageUsage" ADD CONSTRAINT "StorageUsage_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Lesson" ADD CONSTRAINT "Lesson_academyId_fkey" FOREIGN KEY ("academyId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_academyId_fkey" FOREIGN KEY ("academyId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- "academyId" stays: only the lesson is gone.
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_lessonId_academyId_fkey" FOREIGN KEY ("lessonId", "academyId") REFERENCES "Lesson"("id", "academyId") ON DELETE SET NULL ("lessonId") ON UPDATE CASCADE;
ALTER TABLE "Question" ADD CONSTRAINT "Question_quizId_fkey" FOREIGN KEY ("quizId") REFERENCES "Quiz"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_quizId_fkey" FOREIGN KEY ("quizId") REFERENCES "Quiz"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Answer" ADD CONSTRAINT "Answer_resultId_fkey" FOREIGN KEY ("resultId") REFERENCES "QuizResult"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Answer" ADD CONSTRAINT "Answer_quizId_questionId_fkey" FOREIGN KEY ("quizId", "questionId") REFERENCES "Question"("quizId", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "LessonCompletion" ADD CONSTRAINT "LessonCompletion_lessonId_fkey" FOREIGN KEY ("lessonId") REFERENCES "Lesson"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "LessonCompletion" ADD CONSTRAINT "LessonCompletion_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_quizId_fkey" FOREIGN KEY ("quizId") REFERENCES "Quiz"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "LoginIdentity" ADD CONSTRAINT "LoginIdentity_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Subscription" ADD CONSTRAINT "Subscription_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "PublishedEvent" ADD CONSTRAINT "PublishedEvent_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_appId_eventId_fkey" FOREIGN KEY ("appId", "eventId") REFERENCES "PublishedEvent"("appId", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "TeamMember" ADD CONSTRAINT "TeamMember_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "TeamMember" ADD CONSTRAINT "TeamMember_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "TeamInvitation" ADD CONSTRAINT "TeamInvitation_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "AuditEntry" ADD CONSTRAINT "AuditEntry_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Organisation" ADD CONSTRAINT "Organisation_testTeamId_fkey" FOREIGN KEY ("testTeamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "RefusedRequest" ADD CONSTRAINT "RefusedRequest_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ClientUsage" ADD CONSTRAINT "ClientUsage_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "EventKind" ADD CONSTRAINT "EventKind_providerId_fkey" FOREIGN KEY ("providerId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "TeamInvitation" ADD CONSTRAINT "TeamInvitation_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
