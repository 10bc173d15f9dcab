CREATE OR REPLACE TRIGGER "AuditEntry_unchanged_trigger" BEFORE UPDATE ON "AuditEntry"
FOR EACH ROW EXECUTE FUNCTION audit_refuse();
