CREATE OR REPLACE FUNCTION storage_tally_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "StorageUsage" WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" FOR NO KEY UPDATE;
  PERFORM storage_tally(OLD."appId", OLD."clubId", OLD.owner, OLD.collection, -1);
  PERFORM storage_tally(NEW."appId", NEW."clubId", NEW.owner, NEW.collection, 1);
  RETURN NULL;
END $$;
