-- An index that begins with the club looks as good as the primary key to a plan that is made before the first ANALYZE,
-- and reads the whole club for each entry.
DROP INDEX "StorageEntry_clubId_memberId_idx";
CREATE INDEX "StorageEntry_memberId_clubId_idx" ON "StorageEntry"("memberId", "clubId");

-- One order of locks for writers and for what removes a member, an app or a club: these rows first, then the usage rows,
-- then the entries. Without it they deadlock, and each deadlock stops the app's writers for a second.
CREATE FUNCTION storage_lock_usage() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER storage_lock_usage BEFORE DELETE ON "App" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
CREATE TRIGGER storage_lock_usage BEFORE DELETE ON "Organisation" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
CREATE TRIGGER storage_lock_usage BEFORE DELETE ON "Membership" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();

CREATE OR REPLACE FUNCTION storage_put(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
  growth bigint;
BEGIN
  PERFORM FROM "App" WHERE id = app FOR KEY SHARE;
  PERFORM FROM "Organisation" WHERE id = club FOR KEY SHARE;
  IF owned_by <> '' THEN
    PERFORM FROM "Membership" WHERE "organisationId" = club AND "personId" = owned_by FOR KEY SHARE;
  END IF;
  SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO "StorageUsage" ("appId", "clubId") VALUES (app, club) ON CONFLICT DO NOTHING;
    SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  END IF;

  SELECT octet_length(value), version::text INTO old_bytes, old_version FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
  growth := octet_length(new_value) - coalesce(old_bytes, 0);

  IF NOT storage_unchanged(old_version, if_match, if_none_match) THEN
    outcome := 'changed';
  ELSIF growth > 0 AND used + growth > quota THEN
    outcome := 'full';
  ELSE
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, "memberId", value, version, "updatedAt")
    VALUES (app, club, owned_by, in_collection, under_key, nullif(owned_by, ''), new_value, new_version, written_at)
    ON CONFLICT ("appId", "clubId", owner, collection, key)
    DO UPDATE SET value = EXCLUDED.value, version = EXCLUDED.version, "updatedAt" = EXCLUDED."updatedAt";
    outcome := 'stored';
    used := used + growth;
  END IF;
  RETURN NEXT;
END $$;

-- What is removed is given back once a statement: entry by entry, the removal of a large store would write a new version
-- of its usage row for each, and look through all of them each time.
DROP TRIGGER storage_keep_usage ON "StorageEntry";

CREATE OR REPLACE FUNCTION storage_keep_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE "StorageUsage" usage SET bytes = usage.bytes - removed.bytes
    FROM (SELECT "appId", "clubId", sum(octet_length(value)) AS bytes FROM old_entries GROUP BY "appId", "clubId") removed
    WHERE usage."appId" = removed."appId" AND usage."clubId" = removed."clubId";
  ELSIF TG_OP = 'UPDATE' THEN
    IF (NEW."appId", NEW."clubId") <> (OLD."appId", OLD."clubId") THEN
      RAISE EXCEPTION 'A storage entry stays with its app and club.';
    END IF;
    UPDATE "StorageUsage" SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId";
  ELSE
    INSERT INTO "StorageUsage" ("appId", "clubId", bytes) VALUES (NEW."appId", NEW."clubId", octet_length(NEW.value))
    ON CONFLICT ("appId", "clubId") DO UPDATE SET bytes = "StorageUsage".bytes + EXCLUDED.bytes;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER storage_keep_usage AFTER INSERT OR UPDATE OF "appId", "clubId", value ON "StorageEntry"
  FOR EACH ROW EXECUTE FUNCTION storage_keep_usage();
CREATE TRIGGER storage_give_back AFTER DELETE ON "StorageEntry" REFERENCING OLD TABLE AS old_entries
  FOR EACH STATEMENT EXECUTE FUNCTION storage_keep_usage();
