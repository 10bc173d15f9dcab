ALTER TABLE "AuditEntry"
  VALIDATE CONSTRAINT "AuditEntry_clientId_check",
  VALIDATE CONSTRAINT "AuditEntry_author_check";
