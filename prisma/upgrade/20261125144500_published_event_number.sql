-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "PublishedEvent_appId_number_publishedAt_idx" ON "PublishedEvent"("appId", "number", "publishedAt");
