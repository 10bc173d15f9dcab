-- CreateEnum
CREATE TYPE "OrganisationKind" AS ENUM ('club', 'academy', 'provider');

-- CreateEnum
CREATE TYPE "GroupRole" AS ENUM ('member', 'trainer');

-- CreateEnum
CREATE TYPE "EventState" AS ENUM ('draft', 'published');

-- CreateEnum
CREATE TYPE "Level" AS ENUM ('hobby', 'developer');

-- CreateEnum
CREATE TYPE "AppState" AS ENUM ('active', 'suspended');

-- CreateEnum
CREATE TYPE "Environment" AS ENUM ('production', 'sandbox');

-- CreateEnum
CREATE TYPE "QuizState" AS ENUM ('draft', 'released', 'closed');

-- CreateEnum
CREATE TYPE "QuestionType" AS ENUM ('single', 'multiple', 'text', 'image', 'file');

-- CreateEnum
CREATE TYPE "ReviewStatus" AS ENUM ('passed', 'failed', 'pending_review');

-- CreateTable
CREATE TABLE "Organisation" (
    "id" TEXT COLLATE "C" NOT NULL,
    "kind" "OrganisationKind" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Organisation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Person" (
    "id" TEXT COLLATE "C" NOT NULL,
    "firstName" TEXT COLLATE "C" NOT NULL,
    "lastName" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "birthday" DATE,
    "image" TEXT COLLATE "C" NOT NULL DEFAULT '',

    CONSTRAINT "Person_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Membership" (
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leftAt" TIMESTAMPTZ(3),

    CONSTRAINT "Membership_pkey" PRIMARY KEY ("organisationId","personId")
);

-- CreateTable
CREATE TABLE "Group" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "GroupMembership" (
    "groupId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "role" "GroupRole" NOT NULL,

    CONSTRAINT "GroupMembership_pkey" PRIMARY KEY ("groupId","personId","role")
);

-- CreateTable
CREATE TABLE "Calendar" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "visible" BOOLEAN NOT NULL,

    CONSTRAINT "Calendar_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Event" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "start" TIMESTAMPTZ(3) NOT NULL,
    "end" TIMESTAMPTZ(3) NOT NULL,
    "location" TEXT COLLATE "C" NOT NULL,
    "state" "EventState" NOT NULL DEFAULT 'draft',
    "calendarId" TEXT COLLATE "C",
    "groupId" TEXT COLLATE "C",

    CONSTRAINT "Event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "TrainingPlan" (
    "id" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "category" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "TrainingPlan_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Exercise" (
    "planId" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Exercise_pkey" PRIMARY KEY ("planId","position")
);

-- CreateTable
CREATE TABLE "PlanAssignment" (
    "planId" TEXT COLLATE "C" NOT NULL,
    "groupId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "PlanAssignment_pkey" PRIMARY KEY ("planId","groupId")
);

-- CreateTable
CREATE TABLE "Competition" (
    "id" TEXT COLLATE "C" NOT NULL,
    "hostId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Competition_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Participation" (
    "competitionId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Participation_pkey" PRIMARY KEY ("competitionId","clubId")
);

-- CreateTable
CREATE TABLE "Discipline" (
    "id" TEXT COLLATE "C" NOT NULL,
    "competitionId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Discipline_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "CompetitionResult" (
    "id" TEXT COLLATE "C" NOT NULL,
    "disciplineId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "place" INTEGER NOT NULL,
    "score" DOUBLE PRECISION NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "CompetitionResult_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MemberCard" (
    "serial" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "memberNumber" TEXT COLLATE "C" NOT NULL,
    "departments" TEXT[] COLLATE "C",
    "validUntil" DATE NOT NULL,
    "issuedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "MemberCard_pkey" PRIMARY KEY ("serial")
);

-- CreateTable
CREATE TABLE "Team" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "level" "Level" NOT NULL,

    CONSTRAINT "Team_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "Client" (
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C",
    "environment" "Environment" NOT NULL,

    CONSTRAINT "Client_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "StorageUsage" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "StorageUsage_pkey" PRIMARY KEY ("appId","clubId")
);

-- CreateTable
CREATE TABLE "Lesson" (
    "id" TEXT COLLATE "C" NOT NULL,
    "academyId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "Lesson_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Quiz" (
    "id" TEXT COLLATE "C" NOT NULL,
    "academyId" TEXT COLLATE "C" NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "threshold" DOUBLE PRECISION NOT NULL,
    "lessonId" TEXT COLLATE "C",
    "state" "QuizState" NOT NULL DEFAULT 'draft',
    "attemptsAllowed" INTEGER,

    CONSTRAINT "Quiz_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "Answer" (
    "resultId" TEXT COLLATE "C" NOT NULL,
    "quizId" TEXT COLLATE "C" NOT NULL,
    "questionId" TEXT COLLATE "C" NOT NULL,
    "value" TEXT COLLATE "C",
    "correct" BOOLEAN,

    CONSTRAINT "Answer_pkey" PRIMARY KEY ("resultId","questionId")
);

-- CreateTable
CREATE TABLE "LessonCompletion" (
    "lessonId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "completedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "LessonCompletion_pkey" PRIMARY KEY ("lessonId","personId")
);

-- CreateTable
CREATE TABLE "IdempotencyRecord" (
    "clientId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "quizId" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "bodyHash" TEXT COLLATE "C" NOT NULL,
    "answer" TEXT COLLATE "C" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "IdempotencyRecord_pkey" PRIMARY KEY ("clientId","personId","organisationId","quizId","key")
);

-- CreateIndex
CREATE INDEX "Membership_personId_idx" ON "Membership"("personId");

-- CreateIndex
CREATE INDEX "Group_clubId_idx" ON "Group"("clubId");

-- CreateIndex
CREATE INDEX "GroupMembership_personId_idx" ON "GroupMembership"("personId");

-- CreateIndex
CREATE INDEX "Calendar_clubId_idx" ON "Calendar"("clubId");

-- CreateIndex
CREATE INDEX "Event_clubId_end_idx" ON "Event"("clubId", "end");

-- CreateIndex
CREATE INDEX "Event_calendarId_idx" ON "Event"("calendarId");

-- CreateIndex
CREATE INDEX "Event_groupId_idx" ON "Event"("groupId");

-- CreateIndex
CREATE INDEX "TrainingPlan_clubId_idx" ON "TrainingPlan"("clubId");

-- CreateIndex
CREATE INDEX "PlanAssignment_groupId_idx" ON "PlanAssignment"("groupId");

-- CreateIndex
CREATE INDEX "Competition_hostId_idx" ON "Competition"("hostId");

-- CreateIndex
CREATE INDEX "Participation_clubId_idx" ON "Participation"("clubId");

-- CreateIndex
CREATE INDEX "Discipline_competitionId_idx" ON "Discipline"("competitionId");

-- CreateIndex
CREATE INDEX "CompetitionResult_personId_timestamp_idx" ON "CompetitionResult"("personId", "timestamp");

-- CreateIndex
CREATE INDEX "CompetitionResult_disciplineId_idx" ON "CompetitionResult"("disciplineId");

-- CreateIndex
CREATE INDEX "MemberCard_clubId_personId_issuedAt_idx" ON "MemberCard"("clubId", "personId", "issuedAt");

-- CreateIndex
CREATE INDEX "MemberCard_personId_idx" ON "MemberCard"("personId");

-- CreateIndex
CREATE INDEX "App_teamId_idx" ON "App"("teamId");

-- CreateIndex
CREATE INDEX "App_providerId_idx" ON "App"("providerId");

-- CreateIndex
CREATE INDEX "Client_teamId_idx" ON "Client"("teamId");

-- CreateIndex
CREATE INDEX "Client_appId_idx" ON "Client"("appId");

-- CreateIndex
CREATE INDEX "StorageEntry_clubId_memberId_idx" ON "StorageEntry"("clubId", "memberId");

-- CreateIndex
CREATE INDEX "StorageUsage_clubId_idx" ON "StorageUsage"("clubId");

-- CreateIndex
CREATE INDEX "Lesson_academyId_idx" ON "Lesson"("academyId");

-- CreateIndex
CREATE INDEX "Quiz_academyId_idx" ON "Quiz"("academyId");

-- CreateIndex
CREATE INDEX "Quiz_lessonId_idx" ON "Quiz"("lessonId");

-- CreateIndex
CREATE UNIQUE INDEX "Question_quizId_position_key" ON "Question"("quizId", "position");

-- CreateIndex
CREATE INDEX "QuizResult_quizId_personId_idx" ON "QuizResult"("quizId", "personId");

-- CreateIndex
CREATE INDEX "QuizResult_personId_idx" ON "QuizResult"("personId");

-- CreateIndex
CREATE INDEX "Answer_quizId_questionId_idx" ON "Answer"("quizId", "questionId");

-- CreateIndex
CREATE INDEX "LessonCompletion_personId_idx" ON "LessonCompletion"("personId");

-- CreateIndex
CREATE INDEX "IdempotencyRecord_createdAt_idx" ON "IdempotencyRecord"("createdAt");

-- CreateIndex
CREATE INDEX "IdempotencyRecord_personId_idx" ON "IdempotencyRecord"("personId");

-- CreateIndex
CREATE INDEX "IdempotencyRecord_organisationId_idx" ON "IdempotencyRecord"("organisationId");

-- CreateIndex
CREATE INDEX "IdempotencyRecord_quizId_idx" ON "IdempotencyRecord"("quizId");

-- AddForeignKey
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Group" ADD CONSTRAINT "Group_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "GroupMembership" ADD CONSTRAINT "GroupMembership_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "Group"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "GroupMembership" ADD CONSTRAINT "GroupMembership_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Calendar" ADD CONSTRAINT "Calendar_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Event" ADD CONSTRAINT "Event_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Event" ADD CONSTRAINT "Event_calendarId_fkey" FOREIGN KEY ("calendarId") REFERENCES "Calendar"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Event" ADD CONSTRAINT "Event_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "Group"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TrainingPlan" ADD CONSTRAINT "TrainingPlan_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Exercise" ADD CONSTRAINT "Exercise_planId_fkey" FOREIGN KEY ("planId") REFERENCES "TrainingPlan"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PlanAssignment" ADD CONSTRAINT "PlanAssignment_planId_fkey" FOREIGN KEY ("planId") REFERENCES "TrainingPlan"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PlanAssignment" ADD CONSTRAINT "PlanAssignment_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "Group"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Competition" ADD CONSTRAINT "Competition_hostId_fkey" FOREIGN KEY ("hostId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Participation" ADD CONSTRAINT "Participation_competitionId_fkey" FOREIGN KEY ("competitionId") REFERENCES "Competition"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Participation" ADD CONSTRAINT "Participation_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Discipline" ADD CONSTRAINT "Discipline_competitionId_fkey" FOREIGN KEY ("competitionId") REFERENCES "Competition"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_disciplineId_fkey" FOREIGN KEY ("disciplineId") REFERENCES "Discipline"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "App" ADD CONSTRAINT "App_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "App" ADD CONSTRAINT "App_providerId_fkey" FOREIGN KEY ("providerId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Client" ADD CONSTRAINT "Client_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Client" ADD CONSTRAINT "Client_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_clubId_memberId_fkey" FOREIGN KEY ("clubId", "memberId") REFERENCES "Membership"("organisationId", "personId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StorageUsage" ADD CONSTRAINT "StorageUsage_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StorageUsage" ADD CONSTRAINT "StorageUsage_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Lesson" ADD CONSTRAINT "Lesson_academyId_fkey" FOREIGN KEY ("academyId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_academyId_fkey" FOREIGN KEY ("academyId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_lessonId_fkey" FOREIGN KEY ("lessonId") REFERENCES "Lesson"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Question" ADD CONSTRAINT "Question_quizId_fkey" FOREIGN KEY ("quizId") REFERENCES "Quiz"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_quizId_fkey" FOREIGN KEY ("quizId") REFERENCES "Quiz"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Answer" ADD CONSTRAINT "Answer_resultId_fkey" FOREIGN KEY ("resultId") REFERENCES "QuizResult"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Answer" ADD CONSTRAINT "Answer_quizId_questionId_fkey" FOREIGN KEY ("quizId", "questionId") REFERENCES "Question"("quizId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "LessonCompletion" ADD CONSTRAINT "LessonCompletion_lessonId_fkey" FOREIGN KEY ("lessonId") REFERENCES "Lesson"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "LessonCompletion" ADD CONSTRAINT "LessonCompletion_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IdempotencyRecord" ADD CONSTRAINT "IdempotencyRecord_quizId_fkey" FOREIGN KEY ("quizId") REFERENCES "Quiz"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema file cannot say.

-- An event ends no earlier than it starts, and belongs to a calendar or to a group, not to both.
ALTER TABLE "Event" ADD CONSTRAINT "Event_end_check" CHECK ("end" >= "start");
ALTER TABLE "Event" ADD CONSTRAINT "Event_place_check" CHECK (num_nonnulls("calendarId", "groupId") <= 1);

-- `owner` is part of the key, where null cannot be; `memberId` is the same for the foreign key.
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_owner_check" CHECK ("owner" = coalesce("memberId", ''));
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_collection_check" CHECK ("collection" ~ '^[A-Za-z0-9_-]{1,64}$');
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_key_check" CHECK ("key" ~ '^[A-Za-z0-9_-]{1,64}$');
ALTER TABLE "StorageUsage" ADD CONSTRAINT "StorageUsage_bytes_check" CHECK ("bytes" >= 0);

ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_threshold_check" CHECK ("threshold" BETWEEN 0 AND 100);
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_attemptsAllowed_check" CHECK ("attemptsAllowed" >= 1);

-- What JSON can say as a number.
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_score_check" CHECK ("score" NOT IN ('NaN', 'Infinity', '-Infinity'));

-- A secret belongs to a webhook.
ALTER TABLE "App" ADD CONSTRAINT "App_webhookSecret_check" CHECK ("webhookSecret" IS NULL OR "webhookUrl" IS NOT NULL);
