-- Mails stay for three days: the table is small.
ALTER TABLE "Mail"
  ADD COLUMN "administratorId" TEXT COLLATE "C",
  ADD COLUMN "approvalId" TEXT COLLATE "C",
  ADD COLUMN "askedBy" TEXT COLLATE "C",
  DROP CONSTRAINT "Mail_recipient_check",
  ADD CONSTRAINT "Mail_recipient_check" CHECK (num_nonnulls("personId", "email", "administratorId") = 1),
  ADD CONSTRAINT "Mail_approval_check" CHECK (
    ("kind" = 'approvalRequested') = ("administratorId" IS NOT NULL AND "approvalId" IS NOT NULL)
    AND ("askedBy" IS NULL OR "kind" = 'approvalRequested'));
CREATE INDEX "Mail_administratorId_createdAt_idx" ON "Mail"("administratorId", "createdAt");
CREATE INDEX "Mail_askedBy_idx" ON "Mail"("askedBy");
CREATE UNIQUE INDEX "Mail_approvalId_administratorId_key" ON "Mail"("approvalId", "administratorId");
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_administratorId_fkey" FOREIGN KEY ("administratorId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_approvalId_fkey" FOREIGN KEY ("approvalId") REFERENCES "ClubApproval"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_askedBy_fkey" FOREIGN KEY ("askedBy") REFERENCES "Person"("id") ON DELETE SET NULL ON UPDATE CASCADE;
