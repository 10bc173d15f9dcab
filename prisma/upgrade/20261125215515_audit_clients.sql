-- Validated in the next migration, as that reads the whole table.
ALTER TABLE "AuditEntry"
  ADD COLUMN "clientId" TEXT COLLATE "C",
  ADD CONSTRAINT "AuditEntry_clientId_check" CHECK ("clientId" IS NULL OR texts_fit("clientId")) NOT VALID,
  ADD CONSTRAINT "AuditEntry_author_check" CHECK ("personId" IS NULL OR "clientId" IS NULL) NOT VALID;
