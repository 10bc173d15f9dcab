-- By other hands than the triggers' own (depth 0), a sum can only be set to what it is, bytes and time also to null.
CREATE OR REPLACE FUNCTION storage_check_tally() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  place record := coalesce(NEW, OLD);
  kept record;
  stored record;
BEGIN
  SELECT entries, bytes, "updatedAt" INTO kept FROM "StorageCollection"
  WHERE "appId" = place."appId" AND "clubId" = place."clubId" AND owner = place.owner AND collection = place.collection;
  SELECT count(*) AS entries, sum(octet_length(value)) AS bytes, max("updatedAt") AS "updatedAt" INTO stored FROM "StorageEntry"
  WHERE "appId" = place."appId" AND "clubId" = place."clubId" AND owner = place.owner AND collection = place.collection;
  IF coalesce(kept.entries, 0) <> stored.entries OR kept.bytes <> stored.bytes
    OR date_trunc('second', kept."updatedAt") <> date_trunc('second', stored."updatedAt")
  THEN
    RAISE EXCEPTION 'The number of a collection is the number of its entries, as are its bytes and its time.' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
