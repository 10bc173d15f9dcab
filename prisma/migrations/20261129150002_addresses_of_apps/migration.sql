-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Subscription_address_idx" ON "Subscription" ("appId", "createdAt", "id") WHERE "address";
