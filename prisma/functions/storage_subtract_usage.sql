-- Once per statement: row by row, removing a large store would write a new version of its usage row for each entry, and
-- read through all of these versions each time. One UPDATE for each store, where a join would read the removed entries beside a
-- table: Citus cannot plan that one.
CREATE OR REPLACE FUNCTION storage_subtract_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
BEGIN
  FOR removed IN
    SELECT "appId", "clubId", sum(octet_length(value)) AS bytes FROM old_entries GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE "StorageUsage" SET bytes = bytes - removed.bytes WHERE "appId" = removed."appId" AND "clubId" = removed."clubId";
  END LOOP;
  RETURN NULL;
END $$;
