-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "PublishedEvent_isTest_idx" ON "PublishedEvent" ("appId", "number") WHERE "isTest";
