-- The storage's tables can be distributed by club (deploy/citus.sql, docs/scaling.md). The functions keep signatures and
-- results, so releases before this migration run on it.

-- One UPDATE for each store, where a join would read the removed entries beside a table: Citus cannot plan that one.
CREATE OR REPLACE FUNCTION storage_subtract_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
BEGIN
  FOR removed IN
    SELECT "appId", "clubId", sum(octet_length(value)) AS bytes FROM old_entries GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE "StorageUsage" SET bytes = bytes - removed.bytes WHERE "appId" = removed."appId" AND "clubId" = removed."clubId";
  END LOOP;
  RETURN NULL;
END $$;

-- Writers lock app, club and membership before the usage row, as removals do; the foreign keys alone would lock them after it. A
-- function of its own, as on Citus these are on every node: deploy/citus.sql leaves them to the foreign keys there.
CREATE FUNCTION storage_lock_tenants(app text, club text, member text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "App" WHERE id = app FOR KEY SHARE;
  PERFORM FROM "Organisation" WHERE id = club FOR KEY SHARE;
  IF member <> '' THEN
    PERFORM FROM "Membership" WHERE "organisationId" = club AND "personId" = member FOR KEY SHARE;
  END IF;
END $$;

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
  PERFORM storage_lock_tenants(app, club, owned_by);
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
