-- Keeps "StorageUsage".bytes equal to the sum of the bytes of an app's values in a club, whoever writes: the service,
-- Studio, or a cascade that removes a member.
CREATE FUNCTION storage_keep_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW."appId", NEW."clubId") <> (OLD."appId", OLD."clubId") THEN
    RAISE EXCEPTION 'A storage entry stays with its app and club.';
  END IF;
  IF TG_OP = 'DELETE' THEN
    UPDATE "StorageUsage" SET bytes = bytes - octet_length(OLD.value) WHERE "appId" = OLD."appId" AND "clubId" = OLD."clubId";
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE "StorageUsage" SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId";
  ELSE
    INSERT INTO "StorageUsage" ("appId", "clubId", bytes) VALUES (NEW."appId", NEW."clubId", octet_length(NEW.value))
    ON CONFLICT ("appId", "clubId") DO UPDATE SET bytes = "StorageUsage".bytes + EXCLUDED.bytes;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER storage_keep_usage AFTER INSERT OR DELETE OR UPDATE OF "appId", "clubId", value ON "StorageEntry"
  FOR EACH ROW EXECUTE FUNCTION storage_keep_usage();

-- Whether an entry of this version (null: absent) is the one that If-Match and If-None-Match ask for (null: not asked).
CREATE FUNCTION storage_unchanged(version text, if_match text[], if_none_match text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(if_match IS NULL OR (version IS NOT NULL AND ('*' = ANY (if_match) OR version = ANY (if_match))), false)
    AND (if_none_match IS NULL OR version IS NULL OR NOT ('*' = ANY (if_none_match) OR version = ANY (if_none_match)))
$$;

-- Stores a value, unless it was changed in between ('changed') or grows the total over the quota ('full').
-- The usage row is the lock of an app's storage in a club, and is taken first: so the sum is exact, and no two writers
-- wait for each other. Each statement of a function sees what was committed before it: old sizes are read after the lock.
CREATE FUNCTION storage_put(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
  growth bigint;
BEGIN
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

-- Removes an entry, unless it is 'absent' or was 'changed' in between.
CREATE FUNCTION storage_delete(
  app text, club text, owned_by text, in_collection text, under_key text, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
BEGIN
  SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  SELECT octet_length(value), version::text INTO old_bytes, old_version FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;

  IF NOT storage_unchanged(old_version, if_match, if_none_match) THEN
    outcome := 'changed';
  ELSIF old_version IS NULL THEN
    outcome := 'absent';
  ELSE
    DELETE FROM "StorageEntry"
    WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
    outcome := 'deleted';
    used := used - old_bytes;
  END IF;
  used := coalesce(used, 0);
  RETURN NEXT;
END $$;
