-- For nodes of the former release, which do not say who writes.
CREATE OR REPLACE FUNCTION storage_put(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_write(
    app, club, owned_by, in_collection, under_key, new_value, new_version, written_at, quota, if_match, if_none_match, NULL);
END $$;
