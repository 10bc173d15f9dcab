-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Person_pendingMailbox_idx" ON "Person" ("id")
  WHERE "mailbox" IS NULL AND octet_length("email") > char_length("email");
