-- By other hands than the triggers' own (depth 0), the usage can only be set to that sum. Deferred: who erases a store removes
-- its usage row first, and storage_write creates it.
CREATE OR REPLACE FUNCTION storage_check_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  store record := coalesce(NEW, OLD);
BEGIN
  IF coalesce((SELECT bytes FROM "StorageUsage" WHERE "appId" = store."appId" AND "clubId" = store."clubId"), 0)
    <> (SELECT coalesce(sum(octet_length(value)), 0) FROM "StorageEntry" WHERE "appId" = store."appId" AND "clubId" = store."clubId")
  THEN
    RAISE EXCEPTION 'The usage of a store is the sum of the bytes of its values.' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
