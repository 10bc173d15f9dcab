-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Person_mailbox_idx" ON "Person" ("mailbox") WHERE "mailbox" IS NOT NULL;
