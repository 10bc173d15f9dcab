-- CreateEnum
CREATE TYPE "ClubApprovalState" AS ENUM ('requested', 'approved', 'refused', 'withdrawn');

-- AlterTable
ALTER TABLE "Membership" ADD COLUMN     "administrator" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
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

-- CreateIndex
CREATE UNIQUE INDEX "ClubApproval_number_key" ON "ClubApproval"("number");

-- CreateIndex
CREATE INDEX "ClubApproval_appId_idx" ON "ClubApproval"("appId");

-- CreateIndex
CREATE INDEX "ClubApproval_decidedBy_idx" ON "ClubApproval"("decidedBy");

-- CreateIndex
CREATE UNIQUE INDEX "ClubApproval_organisationId_appId_key" ON "ClubApproval"("organisationId", "appId");

-- AddForeignKey
ALTER TABLE "ClubApproval" ADD CONSTRAINT "ClubApproval_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ClubApproval" ADD CONSTRAINT "ClubApproval_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ClubApproval" ADD CONSTRAINT "ClubApproval_decidedBy_fkey" FOREIGN KEY ("decidedBy") REFERENCES "Person"("id") ON DELETE SET NULL ON UPDATE CASCADE;
