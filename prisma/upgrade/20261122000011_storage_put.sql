-- A new version of an entry locks no app, club or membership: it checks no foreign key, and their removal waits for the usage
-- row, as each row of theirs locks it first (storage_lock_usage). Three row locks, each with a record in the log, are a fifth of
-- the database's time for such a PUT. A release before this migration runs on it.
CREATE OR REPLACE FUNCTION storage_put(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
  growth bigint;
  announced text;
BEGIN
  -- An entry that is deleted from here on is inserted with its locks in the other order. Beside the removal of its app, club or
  -- membership that is a deadlock, after which the caller tries again.
  PERFORM FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
  IF NOT FOUND THEN
    PERFORM storage_lock_tenants(app, club, owned_by);
  END IF;
  SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO "StorageUsage" ("appId", "clubId") VALUES (app, club) ON CONFLICT DO NOTHING;
    SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  END IF;

  SELECT octet_length(value), version::text INTO old_bytes, old_version FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
  growth := octet_length(new_value) - coalesce(old_bytes, 0);

  IF NOT storage_meets(old_version, if_match, if_none_match) THEN
    outcome := 'changed';
  ELSIF growth > 0 AND used + growth > quota THEN
    outcome := 'full';
  ELSE
    announced := set_config('storage.put', 'on', true);
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, "memberId", value, version, "updatedAt")
    VALUES (app, club, owned_by, in_collection, under_key, nullif(owned_by, ''), new_value, new_version, written_at)
    ON CONFLICT ("appId", "clubId", owner, collection, key)
    DO UPDATE SET value = EXCLUDED.value, version = EXCLUDED.version, "updatedAt" = EXCLUDED."updatedAt";
    announced := set_config('storage.put', 'off', true);
    outcome := 'stored';
    used := used + growth;
  END IF;
  RETURN NEXT;
END $$;
