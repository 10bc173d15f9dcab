-- no-transaction
-- And some time after their year has passed.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_outlived_idx" ON "Consent" ("createdAt") WHERE "withdrawnAt" IS NULL;
