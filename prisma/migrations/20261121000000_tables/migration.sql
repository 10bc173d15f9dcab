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

CREATE TABLE "Organisation" (
    "id" TEXT COLLATE "C" NOT NULL,
    "kind" "OrganisationKind" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Organisation_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Person" (
    "id" TEXT COLLATE "C" NOT NULL,
    "firstName" TEXT COLLATE "C" NOT NULL,
    "lastName" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "birthday" DATE,
    "image" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Person_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Membership" (
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leftAt" TIMESTAMPTZ(3),
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Membership_pkey" PRIMARY KEY ("organisationId","personId")
);

CREATE TABLE "Group" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Group_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "GroupMembership" (
    "groupId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "role" "GroupRole" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "GroupMembership_pkey" PRIMARY KEY ("groupId","personId","role")
);

CREATE TABLE "Calendar" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "visible" BOOLEAN NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Calendar_pkey" PRIMARY KEY ("id")
);

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

    CONSTRAINT "Event_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "EventGroup" (
    "eventId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "EventGroup_pkey" PRIMARY KEY ("eventId","groupId")
);

CREATE TABLE "TrainingPlan" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "category" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "TrainingPlan_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Exercise" (
    "planId" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Exercise_pkey" PRIMARY KEY ("planId","position")
);

CREATE TABLE "PlanAssignment" (
    "planId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,


    CONSTRAINT "PlanAssignment_pkey" PRIMARY KEY ("planId","groupId")
);

CREATE TABLE "Competition" (
    "id" TEXT COLLATE "C" NOT NULL,
    "hostId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Competition_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Participation" (
    "competitionId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Participation_pkey" PRIMARY KEY ("competitionId","clubId")
);

CREATE TABLE "Discipline" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Discipline_pkey" PRIMARY KEY ("id")
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

    CONSTRAINT "CompetitionResult_pkey" PRIMARY KEY ("id")
);

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

    CONSTRAINT "MemberCard_pkey" PRIMARY KEY ("serial")
);

CREATE TABLE "Team" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "level" "Level" NOT NULL,

    CONSTRAINT "Team_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "App" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "providerId" TEXT COLLATE "C" NOT NULL,
    "state" "AppState" NOT NULL DEFAULT 'active',
    "webhookUrl" TEXT COLLATE "C",
    "webhookSecret" TEXT COLLATE "C",

    CONSTRAINT "App_pkey" PRIMARY KEY ("id")
);

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

    CONSTRAINT "Client_pkey" PRIMARY KEY ("id")
);

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

    CONSTRAINT "StorageEntry_pkey" PRIMARY KEY ("appId","clubId","owner","collection","key")
);

CREATE TABLE "StorageUsage" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "StorageUsage_pkey" PRIMARY KEY ("appId","clubId")
);

CREATE TABLE "Lesson" (
    "id" TEXT COLLATE "C" NOT NULL,
    "academyId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Lesson_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Quiz" (
    "id" TEXT COLLATE "C" NOT NULL,
    "academyId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "threshold" DOUBLE PRECISION NOT NULL,
    "lessonId" TEXT COLLATE "C",
    "state" "QuizState" NOT NULL DEFAULT 'draft',
    "attemptsAllowed" INTEGER,
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Quiz_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Question" (
    "quizId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "type" "QuestionType" NOT NULL,
    "text" TEXT COLLATE "C" NOT NULL,
    "options" TEXT[] COLLATE "C",
    "solution" TEXT[] COLLATE "C",

    CONSTRAINT "Question_pkey" PRIMARY KEY ("quizId","id")
);

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

    CONSTRAINT "QuizResult_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "Answer" (
    "resultId" TEXT COLLATE "C" NOT NULL,
    "quizId" TEXT COLLATE "C" NOT NULL,
    "questionId" TEXT COLLATE "C" NOT NULL,
    "value" TEXT COLLATE "C",
    "correct" BOOLEAN,

    CONSTRAINT "Answer_pkey" PRIMARY KEY ("resultId","questionId")
);

CREATE TABLE "LessonCompletion" (
    "lessonId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "completedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "LessonCompletion_pkey" PRIMARY KEY ("lessonId","personId")
);

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

CREATE TABLE "Subscription" (
    "id" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "subscriber" TEXT COLLATE "C" NOT NULL,
    "url" TEXT COLLATE "C",
    "secret" TEXT COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Subscription_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "PublishedEvent" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "body" TEXT COLLATE "C" NOT NULL,
    "publishedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PublishedEvent_pkey" PRIMARY KEY ("appId","id")
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

    CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "SecretsKeyCheck" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "ciphertext" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "SecretsKeyCheck_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "Membership_personId_idx" ON "Membership"("personId");
CREATE UNIQUE INDEX "Group_id_clubId_key" ON "Group"("id", "clubId");
CREATE INDEX "Group_clubId_idx" ON "Group"("clubId");
CREATE INDEX "GroupMembership_personId_idx" ON "GroupMembership"("personId");
CREATE UNIQUE INDEX "Calendar_id_clubId_key" ON "Calendar"("id", "clubId");
CREATE INDEX "Calendar_clubId_idx" ON "Calendar"("clubId");
CREATE UNIQUE INDEX "Event_id_clubId_key" ON "Event"("id", "clubId");
CREATE INDEX "Event_clubId_end_idx" ON "Event"("clubId", "end");
CREATE INDEX "Event_calendarId_clubId_idx" ON "Event"("calendarId", "clubId");
CREATE INDEX "EventGroup_groupId_idx" ON "EventGroup"("groupId");
CREATE UNIQUE INDEX "TrainingPlan_id_clubId_key" ON "TrainingPlan"("id", "clubId");
CREATE INDEX "TrainingPlan_clubId_idx" ON "TrainingPlan"("clubId");
CREATE INDEX "PlanAssignment_groupId_idx" ON "PlanAssignment"("groupId");
CREATE INDEX "Competition_hostId_idx" ON "Competition"("hostId");
CREATE INDEX "Participation_clubId_idx" ON "Participation"("clubId");
CREATE INDEX "CompetitionResult_personId_timestamp_id_idx" ON "CompetitionResult"("personId", "timestamp" DESC, "id");
CREATE INDEX "CompetitionResult_competitionId_idx" ON "CompetitionResult"("competitionId");
CREATE INDEX "CompetitionResult_disciplineId_idx" ON "CompetitionResult"("disciplineId");
CREATE INDEX "MemberCard_clubId_personId_idx" ON "MemberCard"("clubId", "personId");
CREATE INDEX "MemberCard_personId_idx" ON "MemberCard"("personId");
CREATE INDEX "App_teamId_idx" ON "App"("teamId");
CREATE INDEX "App_providerId_idx" ON "App"("providerId");
CREATE INDEX "Client_teamId_id_idx" ON "Client"("teamId", "id");
CREATE INDEX "Client_appId_idx" ON "Client"("appId");
CREATE INDEX "StorageEntry_memberId_clubId_idx" ON "StorageEntry"("memberId", "clubId");
CREATE INDEX "StorageUsage_clubId_idx" ON "StorageUsage"("clubId");
CREATE UNIQUE INDEX "Lesson_id_academyId_key" ON "Lesson"("id", "academyId");
CREATE INDEX "Lesson_academyId_idx" ON "Lesson"("academyId");
CREATE INDEX "Quiz_academyId_idx" ON "Quiz"("academyId");
CREATE INDEX "Quiz_lessonId_academyId_idx" ON "Quiz"("lessonId", "academyId");
CREATE UNIQUE INDEX "Question_quizId_position_key" ON "Question"("quizId", "position");
CREATE INDEX "QuizResult_quizId_personId_idx" ON "QuizResult"("quizId", "personId");
CREATE INDEX "QuizResult_personId_idx" ON "QuizResult"("personId");
CREATE INDEX "Answer_quizId_questionId_idx" ON "Answer"("quizId", "questionId");
CREATE INDEX "LessonCompletion_personId_idx" ON "LessonCompletion"("personId");
CREATE INDEX "IdempotencyRecord_createdAt_idx" ON "IdempotencyRecord"("createdAt");
CREATE INDEX "IdempotencyRecord_personId_idx" ON "IdempotencyRecord"("personId");
CREATE INDEX "IdempotencyRecord_organisationId_idx" ON "IdempotencyRecord"("organisationId");
CREATE INDEX "IdempotencyRecord_quizId_idx" ON "IdempotencyRecord"("quizId");
CREATE INDEX "Consent_personId_createdAt_id_idx" ON "Consent"("personId", "createdAt", "id");
CREATE INDEX "Consent_clientId_idx" ON "Consent"("clientId");
CREATE INDEX "Consent_organisationId_idx" ON "Consent"("organisationId");
CREATE INDEX "OauthRecord_grantId_idx" ON "OauthRecord"("grantId");
CREATE INDEX "OauthRecord_expiresAt_idx" ON "OauthRecord"("expiresAt");
CREATE UNIQUE INDEX "OauthRecord_model_uid_key" ON "OauthRecord"("model", "uid");
CREATE INDEX "LoginIdentity_personId_idx" ON "LoginIdentity"("personId");
CREATE INDEX "LoginCode_email_sentAt_idx" ON "LoginCode"("email", "sentAt");
CREATE INDEX "LoginCode_sender_sentAt_idx" ON "LoginCode"("sender", "sentAt");
CREATE INDEX "LoginCode_expiresAt_idx" ON "LoginCode"("expiresAt");
CREATE INDEX "Subscription_appId_createdAt_id_idx" ON "Subscription"("appId", "createdAt", "id");
CREATE INDEX "PublishedEvent_publishedAt_appId_id_idx" ON "PublishedEvent"("publishedAt", "appId", "id");
CREATE INDEX "Delivery_eventId_appId_createdAt_id_idx" ON "Delivery"("eventId", "appId", "createdAt" DESC, "id");
CREATE INDEX "Delivery_subscriptionId_createdAt_id_idx" ON "Delivery"("subscriptionId", "createdAt" DESC, "id");
CREATE INDEX "Delivery_createdAt_id_idx" ON "Delivery"("createdAt" DESC, "id");

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
