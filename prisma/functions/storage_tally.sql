-- Adds to the number of entries of a collection; one without entries has no row. The caller has locked the store's usage row.
CREATE OR REPLACE FUNCTION storage_tally(app text, club text, owned_by text, in_collection text, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
BEGIN
  UPDATE "StorageCollection" SET entries = entries + change
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection RETURNING entries INTO counted;
  IF NOT FOUND THEN
    INSERT INTO "StorageCollection" VALUES (app, club, owned_by, in_collection, change);
  ELSIF counted = 0 THEN
    DELETE FROM "StorageCollection"
    WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection;
  END IF;
END $$;
