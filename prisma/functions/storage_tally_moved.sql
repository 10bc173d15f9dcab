CREATE OR REPLACE FUNCTION storage_tally_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "StorageUsage" WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" FOR NO KEY UPDATE;
  PERFORM storage_tally_entries(
    OLD."appId", OLD."clubId", OLD.owner, OLD.collection, -1, -octet_length(OLD.value), OLD."updatedAt");
  PERFORM storage_tally_entries(
    NEW."appId", NEW."clubId", NEW.owner, NEW.collection, 1, octet_length(NEW.value), NEW."updatedAt");
  RETURN NULL;
END $$;
