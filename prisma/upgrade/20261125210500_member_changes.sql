CREATE TYPE "MemberEvent" AS ENUM ('profile', 'groups', 'events', 'trainingplans', 'competitions', 'membercard', 'left', 'consentWithdrawn', 'quizReviewed');

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
