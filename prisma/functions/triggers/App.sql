CREATE OR REPLACE TRIGGER "App_kind_trigger" BEFORE INSERT OR UPDATE OF "providerId" ON "App"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_provider();
CREATE OR REPLACE TRIGGER "App_lockUsage_trigger" BEFORE DELETE ON "App" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
