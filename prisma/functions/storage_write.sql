-- Stores a value. The outcome is 'stored'; 'changed' when a precondition fails; 'full' when the value grows the total over the quota
-- or is one entry too many; 'refused' when the app is `ruled` and a rule refuses the writer. used is the total afterwards. Without a
-- quota, the caller limits both. For apps without rules a look for them would be a twentieth of the database's time for a PUT.
--
-- The usage row is the lock of an app's storage in a club. It is taken before the entry is read: each statement of the function sees
-- what was committed before it, so size and version are current.
--
-- A new version of an entry locks no app, club or membership: it checks no foreign key, and their removal waits for the usage
-- row, as each row of theirs locks it first (storage_lock_usage). Three row locks, each with a record in the log, are a fifth of
-- the database's time for such a PUT.
CREATE OR REPLACE FUNCTION storage_write(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[], writer text, ruled boolean
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
  old_writer text;
  growth bigint;
  announced text;
  counted bigint;
BEGIN
  IF ruled THEN
    IF storage_refusal(app, club, writer, ARRAY['put'], ARRAY[owned_by], ARRAY[in_collection], ARRAY[under_key]) IS NOT NULL THEN
      RETURN QUERY SELECT 'refused', bytes FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club;
      RETURN;
    END IF;
  END IF;

  -- An entry that is deleted from here on is inserted with its locks in the other order. Beside the removal of its app, club or
  -- membership that is a deadlock, after which the caller tries again.
  SELECT bytes, entries INTO used, counted FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club AND (SELECT true FROM "StorageEntry"
    WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key)
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    PERFORM storage_lock_tenants(app, club, owned_by);
    SELECT bytes, entries INTO used, counted FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      INSERT INTO "StorageUsage" ("appId", "clubId", entries) VALUES (app, club, 0) ON CONFLICT DO NOTHING;
      SELECT bytes, entries INTO used, counted FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
    END IF;
  END IF;

  SELECT octet_length(value), version::text, "updatedBy" INTO old_bytes, old_version, old_writer FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
  growth := octet_length(new_value) - coalesce(old_bytes, 0);

  IF NOT storage_meets(old_version, if_match, if_none_match) THEN
    outcome := 'changed';
  ELSIF growth > 0 AND used + growth > quota
    OR old_version IS NULL AND quota IS NOT NULL AND coalesce(counted, storage_count(app, club)) >= storage_max_entries()
  THEN
    outcome := 'full';
  ELSE
    -- The removal of a membership, which takes the member off shared entries, waits for the usage row or has ended. So the
    -- last writer is a member still, and another one is looked up.
    IF owned_by <> '' THEN
      writer := NULL;
    ELSIF writer <> coalesce(old_writer, '') THEN
      SELECT "personId" INTO writer FROM "Membership" WHERE "organisationId" = club AND "personId" = writer;
    END IF;
    announced := set_config('storage.put', 'on', true);
    -- An insertion that meets the entry runs every CHECK twice.
    IF old_version IS NOT NULL THEN
      UPDATE "StorageEntry" SET value = new_value, version = new_version, "updatedAt" = written_at, "updatedBy" = writer
      WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
    END IF;
    IF old_version IS NULL OR NOT FOUND THEN
      IF NOT storage_address_fits(in_collection, under_key) THEN
        RAISE EXCEPTION 'A collection and a key are 1 to 64 letters, digits, _ or -.' USING ERRCODE = 'check_violation';
      END IF;
      INSERT INTO "StorageEntry" (
        "appId", "clubId", owner, collection, key, "memberId", value, version, "updatedAt", "createdBy", "updatedBy")
      VALUES (
        app, club, owned_by, in_collection, under_key, nullif(owned_by, ''), new_value, new_version, written_at, writer, writer)
      ON CONFLICT ("appId", "clubId", owner, collection, key) DO UPDATE SET
        value = EXCLUDED.value, version = EXCLUDED.version, "updatedAt" = EXCLUDED."updatedAt", "updatedBy" = EXCLUDED."updatedBy";
    END IF;
    announced := set_config('storage.put', 'off', true);
    outcome := 'stored';
    used := used + growth;
  END IF;
  RETURN NEXT;
END $$;
