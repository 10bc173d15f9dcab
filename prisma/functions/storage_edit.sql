-- storage_batch of operations some of which were made of what an entry has held: `expected` is its version then, '' for an absent
-- entry, and null for the others. SB008: an entry has another version now; read it again. The request may have a key, '' without one,
-- which is once for the operations that were asked for. Other errors are those of storage_once_as.
CREATE OR REPLACE FUNCTION storage_edit(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], asked_at timestamptz, quota bigint, most_read bigint, ruled boolean,
  asked_ops text[], asked_values text[], expected text[], client text, request_key text
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM storage_lock_store(app, club, member, owners);
  IF request_key = '' OR NOT EXISTS (
    SELECT FROM "StorageRequest" request WHERE request."clientId" = client AND request."clubId" = club
      AND request."memberId" = coalesce(member, '') AND request.key = request_key AND request."appId" = app
      AND request."createdAt" > asked_at - interval '24 hours')
  THEN
    IF EXISTS (
      SELECT FROM unnest(owners, collections, keys, expected) given (of_owner, in_collection, under_key, version)
        LEFT JOIN "StorageEntry" entry ON entry."appId" = app AND entry."clubId" = club AND entry.owner = of_owner
          AND entry.collection = in_collection AND entry.key = under_key
      WHERE given.version <> coalesce(entry.version::text, ''))
    THEN
      RAISE EXCEPTION 'An entry of the batch has another version.' USING ERRCODE = 'SB008';
    END IF;
  END IF;
  IF request_key = '' THEN
    RETURN QUERY SELECT * FROM storage_batch(
      app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, date_trunc('second', asked_at), quota,
      most_read, ruled);
  ELSE
    RETURN QUERY SELECT * FROM storage_once_as(
      app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, asked_at, quota, most_read, client,
      request_key, 'POST',
      storage_request_hash('POST', asked_ops, owners, collections, keys, asked_values, if_match, if_none_match));
  END IF;
END $$;
