-- storage_delete by a member of an app that has rules. The outcome is also 'refused'.
CREATE OR REPLACE FUNCTION storage_delete_ruled(
  app text, club text, owned_by text, in_collection text, under_key text, if_match text[], if_none_match text[], member text
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  IF storage_refusal(app, club, member, ARRAY['delete'], ARRAY[owned_by], ARRAY[in_collection], ARRAY[under_key]) IS NULL THEN
    RETURN QUERY SELECT * FROM storage_delete(app, club, owned_by, in_collection, under_key, if_match, if_none_match);
  ELSE
    RETURN QUERY SELECT 'refused', bytes FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club;
  END IF;
END $$;
