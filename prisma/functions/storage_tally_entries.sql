-- Adds to the sums of a collection, or subtracts; one without entries has no row. The caller has locked the store's usage row.
-- "updatedAt" is unknown once the entry that was written last is removed, and until the next write.
CREATE OR REPLACE FUNCTION storage_tally_entries(
  app text, club text, owned_by text, in_collection text, change bigint, growth bigint, written timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
BEGIN
  UPDATE "StorageCollection" SET entries = entries + change, bytes = bytes + growth,
    "updatedAt" = CASE WHEN change > 0 THEN greatest("updatedAt", written) WHEN "updatedAt" > written THEN "updatedAt" END
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection RETURNING entries INTO counted;
  IF NOT FOUND THEN
    INSERT INTO "StorageCollection" VALUES (app, club, owned_by, in_collection, change, growth, written);
  ELSIF counted = 0 THEN
    DELETE FROM "StorageCollection"
    WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection;
  END IF;
END $$;
