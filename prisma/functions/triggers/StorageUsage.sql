-- First, with the strongest lock: a weaker one before it would deadlock with storage_write.
DROP TRIGGER IF EXISTS "StorageUsage_checkUsage_trigger" ON "StorageUsage";
CREATE CONSTRAINT TRIGGER "StorageUsage_checkUsage_trigger" AFTER INSERT OR DELETE OR UPDATE OF "appId", "clubId", bytes, entries ON "StorageUsage"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION storage_check_usage();

-- Once for each store, after the insertion: a value that is put into a store that exists runs no check.
CREATE OR REPLACE TRIGGER "StorageUsage_kind_trigger" AFTER INSERT OR UPDATE OF "clubId" ON "StorageUsage"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE OR REPLACE TRIGGER "StorageUsage_removeChanges_trigger" AFTER DELETE ON "StorageUsage"
  FOR EACH ROW EXECUTE FUNCTION storage_remove_changes();
