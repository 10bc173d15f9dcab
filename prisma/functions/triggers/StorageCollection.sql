DROP TRIGGER IF EXISTS "StorageCollection_checkTally_trigger" ON "StorageCollection";
CREATE CONSTRAINT TRIGGER "StorageCollection_checkTally_trigger" AFTER INSERT OR UPDATE OR DELETE ON "StorageCollection"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION storage_check_tally();
