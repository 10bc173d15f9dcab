-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Client_rs256_idx" ON "Client" ("id") WHERE "idTokenAlgorithm" = 'RS256';
