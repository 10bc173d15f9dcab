CREATE OR REPLACE TRIGGER "Membership_join_trigger" AFTER INSERT ON "Membership" FOR EACH ROW EXECUTE FUNCTION consent_withdraw();
CREATE OR REPLACE TRIGGER "Membership_return_trigger" AFTER UPDATE ON "Membership" FOR EACH ROW
  WHEN (OLD."leftAt" <= clock_timestamp() OR (OLD."organisationId", OLD."personId") <> (NEW."organisationId", NEW."personId"))
  EXECUTE FUNCTION consent_withdraw();
CREATE OR REPLACE TRIGGER "Membership_lockUsage_trigger" BEFORE DELETE ON "Membership" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
CREATE OR REPLACE TRIGGER "Membership_forgetRemoved_trigger" AFTER DELETE ON "Membership" REFERENCING OLD TABLE AS old_memberships
  FOR EACH STATEMENT EXECUTE FUNCTION storage_forget_removed();
CREATE OR REPLACE TRIGGER "Membership_forgetMoved_trigger" AFTER UPDATE ON "Membership" FOR EACH ROW
  WHEN ((OLD."organisationId", OLD."personId") <> (NEW."organisationId", NEW."personId"))
  EXECUTE FUNCTION storage_forget_moved();
CREATE OR REPLACE TRIGGER "Membership_announceEnd_trigger" AFTER UPDATE OF "leftAt" ON "Membership" FOR EACH ROW
  WHEN (NEW."leftAt" IS NOT NULL AND OLD."leftAt" IS DISTINCT FROM NEW."leftAt"
    AND (OLD."leftAt" IS NULL OR OLD."leftAt" > clock_timestamp()))
  EXECUTE FUNCTION membership_announce_end();
