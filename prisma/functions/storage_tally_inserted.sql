CREATE OR REPLACE FUNCTION storage_tally_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "StorageCollection" SET entries = entries + 1, bytes = bytes + octet_length(NEW.value),
    "updatedAt" = greatest("updatedAt", NEW."updatedAt")
  WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" AND owner = NEW.owner AND collection = NEW.collection;
  IF NOT FOUND THEN
    INSERT INTO "StorageCollection"
    VALUES (NEW."appId", NEW."clubId", NEW.owner, NEW.collection, 1, octet_length(NEW.value), NEW."updatedAt");
  END IF;
  RETURN NULL;
END $$;
