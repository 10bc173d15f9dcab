-- no-transaction
-- What failed of an app is listed and tried again. A delivery that arrives is never in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Delivery_failed_idx" ON "Delivery" ("appId", "createdAt" DESC, "id") WHERE "state" = 'failed';
