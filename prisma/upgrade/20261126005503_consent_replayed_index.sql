-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_replayed_idx" ON "Consent" ("replayedAt") WHERE "replayedAt" IS NOT NULL;
