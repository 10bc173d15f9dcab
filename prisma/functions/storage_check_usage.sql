-- By other hands than the triggers' own (depth 0), the usage can only be set to what it is; entries also to null, not counted. Deferred: who erases a store removes
-- its usage row first, and storage_write creates it.
CREATE OR REPLACE FUNCTION storage_check_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  store record := coalesce(NEW, OLD);
  kept record;
  stored record;
BEGIN
  SELECT bytes, entries INTO kept FROM "StorageUsage" WHERE "appId" = store."appId" AND "clubId" = store."clubId";
  SELECT coalesce(sum(octet_length(value)), 0) AS bytes, count(*) AS entries INTO stored FROM "StorageEntry"
  WHERE "appId" = store."appId" AND "clubId" = store."clubId";
  IF coalesce(kept.bytes, 0) <> stored.bytes OR coalesce(kept.entries, stored.entries) <> stored.entries THEN
    RAISE EXCEPTION 'The usage of a store is the sum of the bytes of its values, and their number.' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
