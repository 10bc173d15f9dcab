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
CREATE TYPE "Language" AS ENUM ('en', 'de');
CREATE TYPE "MailKind" AS ENUM ('invitation', 'requestReceived', 'requestApproved', 'requestRefused', 'webhookFailing', 'webhookEnded', 'secretExpiring');
CREATE TYPE "SubscriptionAlarm" AS ENUM ('failing', 'ended');
CREATE TYPE "ClientAuthentication" AS ENUM ('none', 'client_secret', 'private_key_jwt');
CREATE TYPE "SecretAlarm" AS ENUM ('expiring', 'expired');
CREATE TYPE "MemberEvent" AS ENUM ('profile', 'groups', 'events', 'trainingplans', 'competitions', 'membercard', 'left', 'consentWithdrawn', 'quizReviewed');
CREATE TYPE "IdTokenAlgorithm" AS ENUM ('ES256', 'RS256');
CREATE TYPE "ClubApprovalState" AS ENUM ('requested', 'approved', 'refused', 'withdrawn');

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
    "mailbox" TEXT COLLATE "C" CHECK ("mailbox" IS NULL OR texts_fit("mailbox")),

    CONSTRAINT "Person_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Person_birthday_check" CHECK ("birthday" BETWEEN '0001-01-01' AND '9999-12-31'),
    CONSTRAINT "Person_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Person_texts_check" CHECK (texts_fit("firstName", "lastName", "email", "image")),
    CONSTRAINT "Person_email_check" CHECK (octet_length("email") <= 1024)
);
-- Sign-in by e-mail compares addresses in lower case. "Person_email_check" bounds what the index holds.
CREATE INDEX "Person_lowerEmail_idx" ON "Person" (lower("email"));
CREATE INDEX "Person_mailbox_idx" ON "Person" ("mailbox") WHERE "mailbox" IS NOT NULL;
CREATE INDEX "Person_pendingMailbox_idx" ON "Person" ("id") WHERE "mailbox" IS NULL AND octet_length("email") > char_length("email");

CREATE TABLE "Membership" (
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leftAt" TIMESTAMPTZ(3),
    "version" BIGINT NOT NULL DEFAULT 0,
    "administrator" BOOLEAN NOT NULL DEFAULT false,

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
    "testTeamId" TEXT COLLATE "C",

    CONSTRAINT "Discipline_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Discipline_id_check" CHECK (id_fits("id")),
    CONSTRAINT "Discipline_texts_check" CHECK (texts_fit("name"))
);
CREATE INDEX "Discipline_testTeamId_idx" ON "Discipline"("testTeamId");

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
    "endsAt" TIMESTAMPTZ(3) CHECK (time_fits("endsAt")),

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
    "clientId" TEXT COLLATE "C",

    CONSTRAINT "AuditEntry_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "AuditEntry_clientId_check" CHECK ("clientId" IS NULL OR texts_fit("clientId")),
    CONSTRAINT "AuditEntry_author_check" CHECK ("personId" IS NULL OR "clientId" IS NULL)
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
    "refusal" JSONB,
    "endsAt" TIMESTAMPTZ(3) CHECK (time_fits("endsAt")),
    "secretSetAt" TIMESTAMPTZ(3) CHECK (time_fits("secretSetAt")),
    "formerSecret" TEXT COLLATE "C" CHECK ("formerSecret" IS NULL OR texts_fit("formerSecret")),
    "formerUntil" TIMESTAMPTZ(3) CHECK (time_fits("formerUntil")),

    CONSTRAINT "App_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "App_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255),
    CONSTRAINT "App_webhookSecret_check" CHECK ("webhookSecret" IS NULL OR "webhookUrl" IS NOT NULL),
    CONSTRAINT "App_former_check" CHECK (("formerSecret" IS NULL) = ("formerUntil" IS NULL))
);
CREATE INDEX "App_teamId_idx" ON "App"("teamId");
CREATE INDEX "App_providerId_idx" ON "App"("providerId");
-- Former secrets are removed once they no longer sign.
CREATE INDEX "App_former_idx" ON "App" ("formerUntil") WHERE "formerUntil" IS NOT NULL;

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
    "refusal" JSONB,
    "authentication" "ClientAuthentication" NOT NULL DEFAULT 'none',
    "postLogoutRedirectUris" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[] CHECK (texts_fit(VARIADIC "postLogoutRedirectUris")),
    "idTokenAlgorithm" "IdTokenAlgorithm" NOT NULL DEFAULT 'ES256',
    "devices" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "Client_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Client_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255),
    -- A first-party client has neither a team nor an app.
    CONSTRAINT "Client_firstParty_check" CHECK ("teamId" IS NOT NULL OR "appId" IS NULL),
    -- A first-party client has a secret or keys. A team's web client may authenticate; its secrets are in "ClientSecret".
    CONSTRAINT "Client_credentials_check" CHECK (CASE WHEN "teamId" IS NULL
      THEN "authentication" = 'none' AND num_nonnulls("secretHash", "jwks") <= 1
      ELSE "secretHash" IS NULL AND ("authentication" = 'none' OR "type" = 'web')
        AND ("jwks" IS NULL OR "authentication" = 'private_key_jwt' AND octet_length("jwks"::text) <= 8192) END)
);
CREATE INDEX "Client_teamId_id_idx" ON "Client"("teamId", "id");
CREATE INDEX "Client_appId_idx" ON "Client"("appId");
CREATE INDEX "Client_rs256_idx" ON "Client" ("id") WHERE "idTokenAlgorithm" = 'RS256';

CREATE TABLE "ClientSecret" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "clientId" TEXT COLLATE "C" NOT NULL,
    "hash" TEXT COLLATE "C" NOT NULL CHECK ("hash" ~ '^[A-Za-z0-9_-]{43}$'),
    "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt")),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("expiresAt")),
    "lastUsedAt" TIMESTAMPTZ(3) CHECK (time_fits("lastUsedAt")),
    "alarm" "SecretAlarm",

    CONSTRAINT "ClientSecret_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ClientSecret_life_check" CHECK ("expiresAt" > "createdAt" AND "expiresAt" <= "createdAt" + interval '8760 hours')
);
CREATE INDEX "ClientSecret_clientId_idx" ON "ClientSecret"("clientId");
CREATE INDEX "ClientSecret_expiresAt_idx" ON "ClientSecret"("expiresAt");

CREATE TABLE "ClubApproval" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "state" "ClubApprovalState" NOT NULL,
    "reason" TEXT COLLATE "C" CHECK ("reason" IS NULL OR texts_fit("reason")),
    "requestedAt" TIMESTAMPTZ(3) CHECK (time_fits("requestedAt")),
    "decidedAt" TIMESTAMPTZ(3) CHECK (time_fits("decidedAt")),
    "decidedBy" TEXT COLLATE "C",
    "number" BIGSERIAL NOT NULL,

    CONSTRAINT "ClubApproval_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ClubApproval_length_check" CHECK ("reason" IS NULL OR char_length("reason") BETWEEN 1 AND 500),
    CONSTRAINT "ClubApproval_refusal_check" CHECK (CASE "state" WHEN 'refused' THEN "reason" IS NOT NULL
      WHEN 'withdrawn' THEN true ELSE "reason" IS NULL END),
    CONSTRAINT "ClubApproval_request_check" CHECK ("state" <> 'requested' OR "requestedAt" IS NOT NULL AND "decidedBy" IS NULL),
    CONSTRAINT "ClubApproval_decision_check" CHECK (("state" = 'requested') = ("decidedAt" IS NULL))
);
CREATE UNIQUE INDEX "ClubApproval_number_key" ON "ClubApproval"("number");
CREATE INDEX "ClubApproval_appId_idx" ON "ClubApproval"("appId");
CREATE INDEX "ClubApproval_decidedBy_idx" ON "ClubApproval"("decidedBy");
CREATE UNIQUE INDEX "ClubApproval_organisationId_appId_key" ON "ClubApproval"("organisationId", "appId");

CREATE TABLE "CollectionRule" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "rule" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "CollectionRule_pkey" PRIMARY KEY ("appId","collection"),
    CONSTRAINT "CollectionRule_collection_check" CHECK ("collection" ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT "CollectionRule_rule_check" CHECK ("rule" IN ('author', 'app'))
);

-- storage_write and storage_check_entry check its rows. PostgreSQL reads and plans each CHECK at each statement: seven of them took
-- an eighth of its CPU time for a PUT.
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
    "createdBy" TEXT COLLATE "C",
    "updatedBy" TEXT COLLATE "C",

    CONSTRAINT "StorageEntry_pkey" PRIMARY KEY ("appId","clubId","owner","collection","key")
);
CREATE INDEX "StorageEntry_memberId_clubId_idx" ON "StorageEntry"("memberId", "clubId");
-- Of values above 2 KB. PostgreSQL 15 compresses 10 MB of JSON in 47 ms with lz4, in 270 with pglz, the default; a repeated word in
-- 6 and in 50. Some builds, as the embedded one, have no lz4.
DO $$
BEGIN
  IF (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE "StorageEntry" ALTER COLUMN "value" SET COMPRESSION lz4;
  END IF;
END $$;

CREATE TABLE "StorageUsage" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "changes" BIGINT NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint,
    "horizon" BIGINT NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint,
    "thinned" BIGINT NOT NULL DEFAULT 0,
    -- Null until an entry of an upgraded store is added or removed: the functions of the former release do not count them.
    "entries" BIGINT,

    CONSTRAINT "StorageUsage_pkey" PRIMARY KEY ("appId","clubId"),
    CONSTRAINT "StorageUsage_bytes_check" CHECK ("bytes" >= 0),
    CONSTRAINT "StorageUsage_horizon_check" CHECK ("horizon" <= "changes")
);
CREATE INDEX "StorageUsage_clubId_idx" ON "StorageUsage"("clubId");

-- Half of a page stays free for the next versions of its rows (HOT).
CREATE TABLE "StorageCollection" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "owner" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "entries" BIGINT NOT NULL,
    -- Null until housekeeping has summed an upgraded collection, a portion at a time.
    "bytes" BIGINT,
    "updatedAt" TIMESTAMPTZ(3),

    CONSTRAINT "StorageCollection_pkey" PRIMARY KEY ("appId","clubId","owner","collection")
) WITH (fillfactor = 50);

-- Without CHECKs: triggers write what "StorageEntry" has checked.
CREATE TABLE "StorageChange" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "owner" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "number" BIGINT NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "version" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StorageChange_pkey" PRIMARY KEY ("appId","clubId","owner","collection","number")
);
-- Rows come in the order of time: some bytes for 128 pages of them.
CREATE INDEX "StorageChange_at_idx" ON "StorageChange" USING BRIN ("at");

CREATE TABLE "StorageRequest" (
    "appId" TEXT COLLATE "C" NOT NULL CHECK (id_fits("appId")),
    "clubId" TEXT COLLATE "C" NOT NULL CHECK (id_fits("clubId")),
    -- '' for the app itself.
    "memberId" TEXT COLLATE "C" NOT NULL CHECK ("memberId" = '' OR id_fits("memberId")),
    "clientId" TEXT COLLATE "C" NOT NULL CHECK (id_fits("clientId")),
    "key" TEXT COLLATE "C" NOT NULL CHECK ("key" ~ '^[!-~]{1,255}$'),
    "method" TEXT COLLATE "C" NOT NULL CHECK ("method" = ANY ('{PUT,DELETE,POST}')),
    "hash" BYTEA NOT NULL CHECK (octet_length("hash") = 32),
    "outcomes" TEXT[] COLLATE "C" NOT NULL CHECK (texts_fit(VARIADIC "outcomes")),
    "versions" UUID[] NOT NULL,
    "used" BIGINT NOT NULL CHECK ("used" >= 0),
    "number" BIGINT NOT NULL CHECK ("number" > 0),
    "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt")),

    CONSTRAINT "StorageRequest_pkey" PRIMARY KEY ("clientId","clubId","memberId","key"),
    CONSTRAINT "StorageRequest_operations_check" CHECK (
      cardinality("outcomes") BETWEEN 1 AND 25 AND cardinality("versions") = cardinality("outcomes")
      AND "outcomes" <@ '{stored,deleted,absent,found,missing}' AND ("method" = 'POST' OR cardinality("outcomes") = 1))
);
CREATE UNIQUE INDEX "StorageRequest_appId_clubId_memberId_number_key" ON "StorageRequest"("appId", "clubId", "memberId", "number");
CREATE INDEX "StorageRequest_createdAt_idx" ON "StorageRequest"("createdAt");

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
    "replayedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Consent_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "Consent_personId_createdAt_id_idx" ON "Consent"("personId", "createdAt", "id");
CREATE INDEX "Consent_clientId_organisationId_idx" ON "Consent"("clientId", "organisationId");
CREATE INDEX "Consent_organisationId_clientId_idx" ON "Consent"("organisationId", "clientId");
-- Consents are removed some time after they were withdrawn, and some time after their year has passed.
CREATE INDEX "Consent_withdrawn_idx" ON "Consent" ("withdrawnAt") WHERE "withdrawnAt" IS NOT NULL;
CREATE INDEX "Consent_outlived_idx" ON "Consent" ("createdAt") WHERE "withdrawnAt" IS NULL;
CREATE INDEX "Consent_replayed_idx" ON "Consent" ("replayedAt") WHERE "replayedAt" IS NOT NULL;
CREATE INDEX "Consent_replays_idx" ON "Consent" ("clientId", "replayedAt") WHERE "replayedAt" IS NOT NULL;

-- Without CHECKs of its ids: they are copied from tables that have them.
CREATE TABLE "MemberChange" (
    "id" BIGSERIAL NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "kind" "MemberEvent" NOT NULL,
    "resultId" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "at" TIMESTAMPTZ(3) NOT NULL,
    "publishedAt" TIMESTAMPTZ(3),

    CONSTRAINT "MemberChange_pkey" PRIMARY KEY ("personId","id"),
    CONSTRAINT "MemberChange_resultId_check" CHECK (("kind" = 'quizReviewed') = ("resultId" <> ''))
);
CREATE INDEX "MemberChange_at_idx" ON "MemberChange"("at");

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

CREATE TABLE "RsaSigningKey" (
    "kid" TEXT COLLATE "C" NOT NULL CHECK (id_fits("kid")),
    "ciphertext" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("ciphertext")),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP CHECK (time_fits("createdAt")),
    "signsFrom" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("signsFrom")),

    CONSTRAINT "RsaSigningKey_pkey" PRIMARY KEY ("kid")
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
    "alarm" "SubscriptionAlarm",
    "formerSecret" TEXT COLLATE "C" CHECK ("formerSecret" IS NULL OR texts_fit("formerSecret")),
    "formerUntil" TIMESTAMPTZ(3) CHECK (time_fits("formerUntil")),
    "secretCopiedAt" TIMESTAMPTZ(3) CHECK (time_fits("secretCopiedAt")),

    CONSTRAINT "Subscription_pkey" PRIMARY KEY ("id"),
    -- One of an app: its id is made of the app's.
    CONSTRAINT "Subscription_test_check" CHECK (NOT "test" OR "id" = 'test:' || "appId"),
    CONSTRAINT "Subscription_former_check" CHECK (("formerSecret" IS NULL) = ("formerUntil" IS NULL))
);
CREATE INDEX "Subscription_appId_createdAt_id_idx" ON "Subscription"("appId", "createdAt", "id");
-- Subscriptions that have ended are removed some time later.
CREATE INDEX "Subscription_ended_idx" ON "Subscription" ("endedAt") WHERE "endedAt" IS NOT NULL;
CREATE INDEX "Subscription_former_idx" ON "Subscription" ("appId", "formerUntil") WHERE "formerUntil" IS NOT NULL;

CREATE TABLE "PublishedEvent" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "body" TEXT COLLATE "C" NOT NULL,
    "publishedAt" TIMESTAMPTZ(3) NOT NULL,
    "number" BIGINT,

    CONSTRAINT "PublishedEvent_pkey" PRIMARY KEY ("appId","id")
);
CREATE INDEX "PublishedEvent_publishedAt_appId_id_idx" ON "PublishedEvent"("publishedAt", "appId", "id");
CREATE INDEX "PublishedEvent_appId_type_publishedAt_idx" ON "PublishedEvent"("appId", "type", "publishedAt");
CREATE INDEX "PublishedEvent_appId_number_publishedAt_idx" ON "PublishedEvent"("appId", "number", "publishedAt");

CREATE TABLE "EventFeed" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "last" BIGINT NOT NULL DEFAULT 0,
    "horizon" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "EventFeed_pkey" PRIMARY KEY ("appId"),
    CONSTRAINT "EventFeed_horizon_check" CHECK ("horizon" BETWEEN 0 AND "last")
);

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

CREATE TABLE "DeliveryAttempt" (
    "deliveryId" TEXT COLLATE "C" NOT NULL,
    "number" INTEGER NOT NULL CHECK ("number" >= 1),
    "at" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("at")),
    "durationMs" INTEGER NOT NULL CHECK ("durationMs" >= 0),
    -- A receiver may answer with any three digits.
    "status" INTEGER CHECK ("status" BETWEEN 0 AND 999),
    "error" TEXT COLLATE "C" CHECK (octet_length("error") <= 1024),
    "answer" TEXT COLLATE "C" CHECK (octet_length("answer") <= 1024),

    CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY ("deliveryId","number"),
    CONSTRAINT "DeliveryAttempt_response_check" CHECK ("answer" IS NULL OR "status" IS NOT NULL)
);

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
    "member" TEXT COLLATE "C" CHECK ("member" ~ '^[0-9a-f]{32}$'),

    CONSTRAINT "RefusedRequest_pkey" PRIMARY KEY ("teamId","at","id")
);
CREATE INDEX "RefusedRequest_teamId_requestId_idx" ON "RefusedRequest"("teamId", "requestId");
CREATE INDEX "RefusedRequest_at_idx" ON "RefusedRequest"("at");
-- A member's refused requests are listed, and lose the hash when the person is erased.
CREATE INDEX "RefusedRequest_member_idx" ON "RefusedRequest" ("member", "teamId", "at" DESC, "id" DESC) WHERE "member" IS NOT NULL;

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

CREATE TABLE "MailSettings" (
    "personId" TEXT COLLATE "C" NOT NULL,
    "language" "Language" NOT NULL,
    "off" "MailKind"[] CHECK (cardinality("off") <= 20),

    CONSTRAINT "MailSettings_pkey" PRIMARY KEY ("personId")
);

CREATE TABLE "Mail" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "kind" "MailKind" NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C",
    "email" TEXT COLLATE "C" CHECK ("email" IS NULL OR texts_fit("email")),
    "invitationId" TEXT COLLATE "C" CHECK ("invitationId" IS NULL OR texts_fit("invitationId")),
    "language" "Language" NOT NULL,
    "about" JSONB NOT NULL CHECK (jsonb_typeof("about") = 'object' AND octet_length("about"::text) <= 8192),
    "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt")),
    "nextAt" TIMESTAMPTZ(3) CHECK (time_fits("nextAt")),

    CONSTRAINT "Mail_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Mail_recipient_check" CHECK (num_nonnulls("personId", "email") = 1),
    CONSTRAINT "Mail_invitation_check" CHECK (("kind" = 'invitation') = ("email" IS NOT NULL AND "invitationId" IS NOT NULL))
);
CREATE INDEX "Mail_nextAt_idx" ON "Mail"("nextAt");
CREATE INDEX "Mail_createdAt_idx" ON "Mail"("createdAt");
CREATE INDEX "Mail_teamId_createdAt_idx" ON "Mail"("teamId", "createdAt");
CREATE INDEX "Mail_email_createdAt_idx" ON "Mail"("email", "createdAt");
CREATE INDEX "Mail_personId_idx" ON "Mail"("personId");

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
ALTER TABLE "Discipline" ADD CONSTRAINT "Discipline_testTeamId_fkey" FOREIGN KEY ("testTeamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "DeliveryAttempt" ADD CONSTRAINT "DeliveryAttempt_deliveryId_fkey" FOREIGN KEY ("deliveryId") REFERENCES "Delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "MailSettings" ADD CONSTRAINT "MailSettings_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_teamId_personId_fkey" FOREIGN KEY ("teamId", "personId") REFERENCES "TeamMember"("teamId", "personId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ClientSecret" ADD CONSTRAINT "ClientSecret_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "EventFeed" ADD CONSTRAINT "EventFeed_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "CollectionRule" ADD CONSTRAINT "CollectionRule_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ClubApproval" ADD CONSTRAINT "ClubApproval_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ClubApproval" ADD CONSTRAINT "ClubApproval_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ClubApproval" ADD CONSTRAINT "ClubApproval_decidedBy_fkey" FOREIGN KEY ("decidedBy") REFERENCES "Person"("id") ON DELETE SET NULL ON UPDATE CASCADE;
