-- Once per statement: row by row, removing a large store would write a new version of its usage row for each entry, and
-- read through all of these versions each time. One UPDATE for each store, where a join would read the removed entries beside a
-- table: Citus cannot plan that one. Without a usage row the whole store is being removed, and its changes with it; without a
-- membership nobody reads a member's changes any more.
CREATE OR REPLACE FUNCTION storage_subtract_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
  last bigint;
BEGIN
  FOR removed IN
    SELECT "appId", "clubId", sum(octet_length(value)) AS bytes, count(*) AS entries FROM old_entries GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE "StorageUsage" SET bytes = bytes - removed.bytes, changes = changes + removed.entries,
      entries = coalesce(entries, storage_count(removed."appId", removed."clubId")) - removed.entries
    WHERE "appId" = removed."appId" AND "clubId" = removed."clubId" RETURNING changes INTO last;
    IF FOUND THEN
      INSERT INTO "StorageChange" ("appId", "clubId", owner, collection, number, key, at)
      SELECT "appId", "clubId", owner, collection, last + 1 - row_number() OVER (), key, clock_timestamp() FROM old_entries
      WHERE "appId" = removed."appId" AND "clubId" = removed."clubId" AND (owner = '' OR EXISTS (
        SELECT FROM "Membership" WHERE "organisationId" = "clubId" AND "personId" = owner));
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
