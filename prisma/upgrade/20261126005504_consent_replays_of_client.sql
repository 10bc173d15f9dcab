-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_replays_idx" ON "Consent" ("clientId", "replayedAt") WHERE "replayedAt" IS NOT NULL;
