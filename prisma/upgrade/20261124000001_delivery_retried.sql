-- no-transaction
-- When a receiver was last tried that made deliveries wait. What arrives at the first attempt is never in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Delivery_retried_idx" ON "Delivery" ("subscriptionId", "lastAttemptAt") WHERE "state" = 'pending' AND "attempts" > 0;
