-- storage_batch of a request with an `Idempotency-Key`, once. For 24 hours the same key with the same `request_hash` gets the first
-- answer, whatever was written since; only what `get` reads is read again, as no value is stored with the key. The lock of the store
-- makes a duplicate wait for the first one's commit. A refusal is an error, so that it leaves nothing. SB005: the key came with
-- other operations. SB006: the member has too many keys, the next one is free after the seconds in DETAIL. SB007: a DELETE removes
-- nothing. Others are those of storage_batch and, with `expected`, of storage_expect.
CREATE OR REPLACE FUNCTION storage_once_as(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], asked_at timestamptz, quota bigint, most_read bigint,
  client text, request_key text, request_method text, request_hash bytea, expected text[]
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  sender text := coalesce(member, '');
  expired timestamptz := asked_at - interval '24 hours';
  kept "StorageRequest";
  last bigint;
  oldest timestamptz;
  done_outcomes text[] := '{}';
  done_versions uuid[] := '{}';
BEGIN
  PERFORM storage_lock_store(app, club, member, owners);
  -- By the primary key alone: beside the app, a plan without statistics reads all keys of the member.
  SELECT * INTO kept FROM "StorageRequest"
  WHERE "clientId" = client AND "clubId" = club AND "memberId" = sender AND key = request_key;
  IF kept."appId" = app AND kept."createdAt" > expired THEN
    IF kept.hash <> request_hash THEN
      RAISE EXCEPTION 'The key came with other operations.' USING ERRCODE = 'SB005';
    END IF;
    -- No entry has the key ''.
    RETURN QUERY
    SELECT CASE ops[place] WHEN 'get' THEN again.outcome ELSE kept.outcomes[place] END, again.found_value,
      CASE ops[place] WHEN 'get' THEN again.found_version ELSE kept.versions[place] END,
      CASE ops[place] WHEN 'get' THEN again.found_at WHEN 'put' THEN floor(extract(epoch FROM kept."createdAt"))::bigint END, kept.used
    FROM storage_batch(
      app, club, member, array_fill('get'::text, ARRAY[cardinality(ops)]), owners, collections,
      ARRAY(SELECT CASE op WHEN 'get' THEN name ELSE '' END FROM unnest(ops, keys) WITH ORDINALITY given (op, name, place) ORDER BY place),
      array_fill(NULL::text, ARRAY[cardinality(ops)]), array_fill(NULL::text, ARRAY[cardinality(ops)]),
      array_fill(NULL::text, ARRAY[cardinality(ops)]), asked_at, quota, most_read, false
    ) WITH ORDINALITY again (outcome, found_value, found_version, found_at, used, place)
    ORDER BY place;
    RETURN;
  END IF;
  IF expected IS NOT NULL THEN
    PERFORM storage_expect(app, club, owners, collections, keys, expected);
  END IF;

  SELECT number INTO last FROM "StorageRequest"
  WHERE "appId" = app AND "clubId" = club AND "memberId" = sender ORDER BY number DESC LIMIT 1;
  last := coalesce(last, 0);
  SELECT "createdAt" INTO oldest FROM "StorageRequest"
  WHERE "appId" = app AND "clubId" = club AND "memberId" = sender AND number = last + 1 - storage_max_requests()
    AND "createdAt" > expired;
  IF FOUND THEN
    RAISE EXCEPTION 'The member has too many keys.'
      USING ERRCODE = 'SB006', DETAIL = greatest(1, ceil(extract(epoch FROM oldest - expired)))::text;
  END IF;

  FOR outcome, found_value, found_version, found_at, used IN
    SELECT * FROM storage_batch(
      app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, date_trunc('second', asked_at), quota,
      most_read, true)
  LOOP
    RETURN NEXT;
    done_outcomes := done_outcomes || outcome;
    done_versions := done_versions || found_version;
  END LOOP;
  IF request_method = 'DELETE' AND outcome = 'absent' THEN
    RAISE EXCEPTION 'There is no such entry.' USING ERRCODE = 'SB007';
  END IF;

  -- An expired one, or one of another app that had the client.
  DELETE FROM "StorageRequest" WHERE "clientId" = client AND "clubId" = club AND "memberId" = sender AND key = request_key;
  -- The removal of a membership, which removes its keys, waits for the usage row or has ended.
  IF member IS NULL OR EXISTS (SELECT FROM "Membership" WHERE "organisationId" = club AND "personId" = member) THEN
    INSERT INTO "StorageRequest"
      ("appId", "clubId", "memberId", "clientId", key, method, hash, outcomes, versions, used, number, "createdAt")
    VALUES (app, club, sender, client, request_key, request_method, request_hash, done_outcomes, done_versions, used,
      last + 1, asked_at);
  END IF;
END $$;
