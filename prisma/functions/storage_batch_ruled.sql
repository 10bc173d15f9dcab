-- storage_batch of an app that has rules. SB004: a rule refuses the operation at the index in DETAIL, whether or not a precondition
-- of another one fails. No rule binds the app itself, which has no member.
CREATE OR REPLACE FUNCTION storage_batch_ruled(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], written_at timestamptz, quota bigint, most_read bigint
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  refused integer := CASE WHEN member IS NOT NULL THEN storage_refusal(app, club, member, ops, owners, collections, keys) END;
BEGIN
  IF refused IS NOT NULL THEN
    RAISE EXCEPTION 'A rule refuses an operation of the batch.' USING ERRCODE = 'SB004', DETAIL = (refused - 1)::text;
  END IF;
  RETURN QUERY SELECT * FROM storage_batch(
    app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, written_at, quota, most_read);
END $$;
