-- CreateEnum
CREATE TYPE "Language" AS ENUM ('en', 'de');

-- CreateEnum
CREATE TYPE "MailKind" AS ENUM ('invitation', 'requestReceived', 'requestApproved', 'requestRefused', 'webhookFailing', 'webhookEnded');

-- CreateEnum
CREATE TYPE "SubscriptionAlarm" AS ENUM ('failing', 'ended');

-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "alarm" "SubscriptionAlarm";

-- CreateTable
CREATE TABLE "MailSettings" (
    "personId" TEXT COLLATE "C" NOT NULL,
    "language" "Language" NOT NULL,
    "off" "MailKind"[] CHECK (cardinality("off") <= 20),

    CONSTRAINT "MailSettings_pkey" PRIMARY KEY ("personId")
);

-- CreateTable
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

-- CreateIndex
CREATE INDEX "Mail_nextAt_idx" ON "Mail"("nextAt");

-- CreateIndex
CREATE INDEX "Mail_createdAt_idx" ON "Mail"("createdAt");

-- CreateIndex
CREATE INDEX "Mail_teamId_createdAt_idx" ON "Mail"("teamId", "createdAt");

-- CreateIndex
CREATE INDEX "Mail_email_createdAt_idx" ON "Mail"("email", "createdAt");

-- AddForeignKey
ALTER TABLE "MailSettings" ADD CONSTRAINT "MailSettings_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_teamId_personId_fkey" FOREIGN KEY ("teamId", "personId") REFERENCES "TeamMember"("teamId", "personId") ON DELETE CASCADE ON UPDATE CASCADE;
