-- By other hands than the triggers' own (depth 0), a number can only be set to what it is.
CREATE OR REPLACE FUNCTION storage_check_tally() RETURNS trigger LANGUAGE plpgsql AS $$
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
