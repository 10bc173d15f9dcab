CREATE OR REPLACE TRIGGER "Organisation_kind_trigger" BEFORE UPDATE OF "kind" ON "Organisation"
  FOR EACH ROW WHEN (OLD."kind" <> NEW."kind") EXECUTE FUNCTION organisation_keep_kind();
CREATE OR REPLACE TRIGGER "Organisation_lockUsage_trigger" BEFORE DELETE ON "Organisation" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
