-- Counts the entries that are older than the triggers of the migration before, while others write. Of each collection they are
-- what a snapshot has of entries, less what the triggers have added up to that snapshot: the same number at any time.
CREATE TEMPORARY TABLE storage_older ON COMMIT DROP AS
  SELECT "appId", "clubId", owner, collection, sum(entries) AS entries FROM (
    SELECT "appId", "clubId", owner, collection, count(*) AS entries FROM "StorageEntry" GROUP BY 1, 2, 3, 4
    UNION ALL SELECT "appId", "clubId", owner, collection, -entries FROM "StorageCollection") counted
  GROUP BY 1, 2, 3, 4 HAVING sum(entries) <> 0;

-- Writers wait from here on, for about a second for each 100,000 collections.
LOCK TABLE "StorageCollection" IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO "StorageCollection" SELECT * FROM storage_older
ON CONFLICT ("appId", "clubId", owner, collection) DO UPDATE SET entries = "StorageCollection".entries + EXCLUDED.entries;
DELETE FROM "StorageCollection" WHERE entries = 0;

-- By other hands than the triggers' own (depth 0), a number can only be set to what it is.
CREATE FUNCTION storage_check_tally() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  place record := coalesce(NEW, OLD);
BEGIN
  IF coalesce((SELECT entries FROM "StorageCollection" WHERE "appId" = place."appId" AND "clubId" = place."clubId"
      AND owner = place.owner AND collection = place.collection), 0)
    <> (SELECT count(*) FROM "StorageEntry" WHERE "appId" = place."appId" AND "clubId" = place."clubId"
      AND owner = place.owner AND collection = place.collection)
  THEN
    RAISE EXCEPTION 'The number of a collection is the number of its entries.' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "StorageCollection_checkTally_trigger" AFTER INSERT OR UPDATE OR DELETE ON "StorageCollection"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION storage_check_tally();
