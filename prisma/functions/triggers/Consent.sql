-- Row by row: each new membership updates its consents, mostly none.
CREATE OR REPLACE TRIGGER "Consent_announceWithdrawal_trigger" AFTER UPDATE OF "withdrawnAt" ON "Consent" FOR EACH ROW
  WHEN (OLD."withdrawnAt" IS NULL AND NEW."withdrawnAt" IS NOT NULL) EXECUTE FUNCTION consent_announce_withdrawal();
CREATE OR REPLACE TRIGGER "Consent_announceEnd_trigger" AFTER INSERT ON "Consent"
  FOR EACH ROW WHEN (NEW."withdrawnAt" IS NULL) EXECUTE FUNCTION consent_announce_end();
CREATE OR REPLACE TRIGGER "Consent_endSkipped_trigger" AFTER UPDATE OF "withdrawnAt" ON "Consent" FOR EACH ROW
  WHEN (OLD."withdrawnAt" IS NULL AND NEW."withdrawnAt" IS NOT NULL AND NEW."basis" IS NULL) EXECUTE FUNCTION consent_end_skipped();
CREATE OR REPLACE TRIGGER "Consent_endFeeds_trigger" AFTER UPDATE OF "withdrawnAt" ON "Consent" FOR EACH ROW
  WHEN (OLD."withdrawnAt" IS NULL AND NEW."withdrawnAt" IS NOT NULL) EXECUTE FUNCTION consent_end_feeds();
