CREATE OR REPLACE FUNCTION storage_tally_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
BEGIN
  FOR removed IN
    SELECT "appId", "clubId", owner, collection, count(*) AS entries, sum(octet_length(value)) AS bytes, max("updatedAt") AS "updatedAt"
    FROM old_entries GROUP BY 1, 2, 3, 4 ORDER BY 1, 2
  LOOP
    PERFORM storage_tally_entries(
      removed."appId", removed."clubId", removed.owner, removed.collection, -removed.entries, -removed.bytes, removed."updatedAt");
  END LOOP;
  RETURN NULL;
END $$;
