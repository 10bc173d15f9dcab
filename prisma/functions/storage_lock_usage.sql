-- Writers and the removal of a member, an app or a club lock in one order: app, club and membership, then the usage rows,
-- then the entries. In another order they deadlock, and each deadlock stops the app's writers for a second.
CREATE OR REPLACE FUNCTION storage_lock_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'App' THEN
    PERFORM FROM "StorageUsage" WHERE "appId" = OLD.id ORDER BY "clubId" FOR NO KEY UPDATE;
  ELSIF TG_TABLE_NAME = 'Organisation' THEN
    PERFORM FROM "StorageUsage" WHERE "clubId" = OLD.id ORDER BY "appId" FOR NO KEY UPDATE;
  ELSE
    PERFORM FROM "StorageUsage" WHERE "clubId" = OLD."organisationId" ORDER BY "appId" FOR NO KEY UPDATE;
  END IF;
  RETURN OLD;
END $$;
