-- storage_write by a member of an app that has rules. The outcome is also 'refused'. For apps without rules a look for them would be
-- a twentieth of the database's time for a PUT.
CREATE OR REPLACE FUNCTION storage_write_ruled(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[], writer text
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  IF storage_refusal(app, club, writer, ARRAY['put'], ARRAY[owned_by], ARRAY[in_collection], ARRAY[under_key]) IS NULL THEN
    RETURN QUERY SELECT * FROM storage_write(
      app, club, owned_by, in_collection, under_key, new_value, new_version, written_at, quota, if_match, if_none_match, writer);
  ELSE
    RETURN QUERY SELECT 'refused', bytes FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club;
  END IF;
END $$;
