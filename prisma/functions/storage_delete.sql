-- Removes an entry. The outcome is 'deleted'; 'changed' when a precondition fails; 'absent'; 'refused' when a rule of the app refuses
-- the member `bound`; null looks for no rule.
CREATE OR REPLACE FUNCTION storage_delete(
  app text, club text, owned_by text, in_collection text, under_key text, if_match text[], if_none_match text[], bound text
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
BEGIN
  IF bound IS NOT NULL THEN
    IF storage_refusal(app, club, bound, ARRAY['delete'], ARRAY[owned_by], ARRAY[in_collection], ARRAY[under_key]) IS NOT NULL THEN
      RETURN QUERY SELECT 'refused', bytes FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club;
      RETURN;
    END IF;
  END IF;

  SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  SELECT octet_length(value), version::text INTO old_bytes, old_version FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;

  IF NOT storage_meets(old_version, if_match, if_none_match) THEN
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
