-- storage_batch of operations some of which were made of what an entry has held: `expected` is its version then, '' for an absent
-- entry, and null for the others. The request may have a key, '' without one, which is once for the operations that were asked for.
-- Errors are those of storage_once_as.
CREATE OR REPLACE FUNCTION storage_edit(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], asked_at timestamptz, quota bigint, most_read bigint, ruled boolean,
  asked_ops text[], asked_values text[], expected text[], client text, request_key text
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  IF request_key = '' THEN
    PERFORM storage_lock_store(app, club, member, owners);
    PERFORM storage_expect(app, club, owners, collections, keys, expected);
    RETURN QUERY SELECT * FROM storage_batch(
      app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, date_trunc('second', asked_at), quota,
      most_read, ruled);
  ELSE
    RETURN QUERY SELECT * FROM storage_once_as(
      app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, asked_at, quota, most_read, client,
      request_key, 'POST',
      storage_request_hash('POST', asked_ops, owners, collections, keys, asked_values, if_match, if_none_match), expected);
  END IF;
END $$;
