CREATE OR REPLACE FUNCTION storage_tally_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "StorageCollection";
  DELETE FROM "StorageChange";
  UPDATE "StorageUsage" SET bytes = 0, entries = 0, changes = changes + 1, horizon = changes + 1;
  RETURN NULL;
END $$;
