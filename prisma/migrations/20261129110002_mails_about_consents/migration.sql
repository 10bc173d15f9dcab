-- Mails stay for three days: the table is small.
ALTER TABLE "Mail"
  ADD COLUMN "consentId" TEXT COLLATE "C",
  ADD CONSTRAINT "Mail_consent_check" CHECK (("kind" IN ('accessGranted', 'accessReplayed', 'deviceAllowed')) = ("consentId" IS NOT NULL)
    AND ("consentId" IS NULL OR "personId" IS NOT NULL AND "teamId" IS NULL));
CREATE UNIQUE INDEX "Mail_consentId_kind_key" ON "Mail"("consentId", "kind");
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_consentId_fkey" FOREIGN KEY ("consentId") REFERENCES "Consent"("id") ON DELETE CASCADE ON UPDATE CASCADE;
