-- no-transaction
-- What others changed about a person, for the export.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "AuditEntry_person_idx" ON "AuditEntry" ("target") WHERE "action" LIKE 'person.%';
