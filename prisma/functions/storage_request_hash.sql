-- What tells a repeated request from another one with its key. Values by their hashes: an array of megabytes would be copied several
-- times.
CREATE OR REPLACE FUNCTION storage_request_hash(
  request_method text, ops text[], owners text[], collections text[], keys text[], new_values text[], if_match text[],
  if_none_match text[]
) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT sha256(convert_to(ROW(request_method, ops, owners, collections, keys,
      array_agg(sha256(convert_to(value, 'UTF8')) ORDER BY place), if_match, if_none_match)::text, 'UTF8'))
    FROM unnest(new_values) WITH ORDINALITY given (value, place));
END $$;
