-- Mails stay for three days: the table is small.
ALTER TABLE "Mail"
  ADD COLUMN "childRequestId" TEXT COLLATE "C",
  ADD CONSTRAINT "Mail_child_check" CHECK (
    ("kind" = 'guardianAsked') = ("childRequestId" IS NOT NULL) AND ("childRequestId" IS NULL OR "administratorId" IS NOT NULL));
CREATE INDEX "Mail_childRequestId_idx" ON "Mail"("childRequestId");
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_childRequestId_fkey" FOREIGN KEY ("childRequestId") REFERENCES "ChildRequest"("id") ON DELETE CASCADE ON UPDATE CASCADE;
