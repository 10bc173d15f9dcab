-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "PublishedEvent_appId_type_publishedAt_idx" ON "PublishedEvent"("appId", "type", "publishedAt");
