CREATE OR REPLACE FUNCTION storage_remove_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "StorageChange" WHERE "appId" = OLD."appId" AND "clubId" = OLD."clubId";
  DELETE FROM "StorageRequest" WHERE "appId" = OLD."appId" AND "clubId" = OLD."clubId";
  RETURN NULL;
END $$;
