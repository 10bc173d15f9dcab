CREATE OR REPLACE TRIGGER "StorageEntry_addUsage_trigger" AFTER INSERT ON "StorageEntry"
  FOR EACH ROW EXECUTE FUNCTION storage_add_usage();
-- storage_forget_members changes no value, and no version either.
CREATE OR REPLACE TRIGGER "StorageEntry_changeUsage_trigger" AFTER UPDATE ON "StorageEntry"
  FOR EACH ROW WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION storage_add_usage();
CREATE OR REPLACE TRIGGER "StorageEntry_subtractUsage_trigger" AFTER DELETE ON "StorageEntry" REFERENCING OLD TABLE AS old_entries
  FOR EACH STATEMENT EXECUTE FUNCTION storage_subtract_usage();
CREATE OR REPLACE TRIGGER "StorageEntry_checkEntry_trigger" BEFORE INSERT OR UPDATE ON "StorageEntry"
  FOR EACH ROW WHEN (current_setting('storage.put', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION storage_check_entry();
-- By their names they run after the triggers of the usage, which lock its row. An insertion is counted row by row: a trigger with
-- a table of new rows would copy the value of each PUT.
CREATE OR REPLACE TRIGGER "StorageEntry_tallyInserted_trigger" AFTER INSERT ON "StorageEntry"
  FOR EACH ROW EXECUTE FUNCTION storage_tally_inserted();
CREATE OR REPLACE TRIGGER "StorageEntry_tallyMoved_trigger" AFTER UPDATE OF owner, collection, key ON "StorageEntry"
  FOR EACH ROW WHEN ((OLD.owner, OLD.collection, OLD.key) <> (NEW.owner, NEW.collection, NEW.key)) EXECUTE FUNCTION storage_tally_moved();
CREATE OR REPLACE TRIGGER "StorageEntry_tallyDeleted_trigger" AFTER DELETE ON "StorageEntry" REFERENCING OLD TABLE AS old_entries
  FOR EACH STATEMENT EXECUTE FUNCTION storage_tally_deleted();
CREATE OR REPLACE TRIGGER "StorageEntry_tallyTruncated_trigger" AFTER TRUNCATE ON "StorageEntry"
  FOR EACH STATEMENT EXECUTE FUNCTION storage_tally_truncated();

-- Replaced by storage_tally_entries. No writer is within it, as the triggers lock the table.
DROP FUNCTION IF EXISTS storage_tally(text, text, text, text, bigint);
