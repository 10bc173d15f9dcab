-- no-transaction
-- Consents are removed some time after they were withdrawn.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_withdrawn_idx" ON "Consent" ("withdrawnAt") WHERE "withdrawnAt" IS NOT NULL;
