CREATE OR REPLACE FUNCTION storage_tally_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "StorageCollection";
  RETURN NULL;
END $$;
