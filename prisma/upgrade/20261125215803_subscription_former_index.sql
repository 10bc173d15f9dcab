-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Subscription_former_idx" ON "Subscription" ("appId", "formerUntil") WHERE "formerUntil" IS NOT NULL;
