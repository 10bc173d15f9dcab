-- An erasure takes the person out of audit entries: who, to whom, and their address in the values. The fact stays.
CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('audit.erase', true) = 'on'
    AND (NEW.id, NEW."teamId", NEW.action, NEW.at) = (OLD.id, OLD."teamId", OLD.action, OLD.at)
    AND (NEW."personId" IS NOT DISTINCT FROM OLD."personId" OR NEW."personId" = '')
    AND (NEW.target = OLD.target OR NEW.target = '') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'Audit entries are never changed.'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'AuditEntry_unchanged_check', TABLE = 'AuditEntry';
END $$;
