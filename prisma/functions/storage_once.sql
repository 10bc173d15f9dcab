-- storage_once_as of the operations that are executed.
CREATE OR REPLACE FUNCTION storage_once(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], asked_at timestamptz, quota bigint, most_read bigint,
  client text, request_key text, request_method text
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_once_as(
    app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, asked_at, quota, most_read,
    client, request_key, request_method,
    storage_request_hash(request_method, ops, owners, collections, keys, new_values, if_match, if_none_match), NULL);
END $$;
