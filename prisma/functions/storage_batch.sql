-- Applies the operations of a batch in their order, all of them or none: what refuses it is an error. SB001: a precondition of the
-- operation at the index in DETAIL fails. SB002: at the end, the total is over the quota or the entries are too many, and there are
-- more than before. SB003: the values read have more than most_read bytes, DETAIL of them. SB004: the app is `ruled`, and a rule
-- refuses the operation at the index in DETAIL, whether or not a precondition of another one fails. No rule binds the app itself,
-- which has no member.
--
-- App, club, membership and usage row are locked first, in the order of storage_write and of removals: an entry that the batch
-- itself has deleted is inserted with no new lock. A batch that only reads has the locks too, and so reads one state.
CREATE OR REPLACE FUNCTION storage_batch(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], written_at timestamptz, quota bigint, most_read bigint, ruled boolean
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  used_before bigint;
  counted_before bigint;
  counted bigint;
  written bigint := floor(extract(epoch FROM written_at));
  found_bytes bigint;
  read_bytes bigint := 0;
  refused integer;
BEGIN
  IF ruled AND member IS NOT NULL THEN
    refused := storage_refusal(app, club, member, ops, owners, collections, keys);
    IF refused IS NOT NULL THEN
      RAISE EXCEPTION 'A rule refuses an operation of the batch.' USING ERRCODE = 'SB004', DETAIL = (refused - 1)::text;
    END IF;
  END IF;

  PERFORM storage_lock_tenants(app, club, CASE WHEN member = ANY (owners) THEN member ELSE '' END);
  INSERT INTO "StorageUsage" ("appId", "clubId", entries) VALUES (app, club, 0) ON CONFLICT DO NOTHING;
  SELECT bytes, entries INTO used, counted_before FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  used := coalesce(used, 0);
  used_before := used;
  counted_before := coalesce(counted_before, storage_count(app, club));

  FOR i IN 1 .. cardinality(ops) LOOP
    found_value := NULL;
    found_version := NULL;
    found_at := NULL;
    IF ops[i] = 'put' THEN
      found_version := gen_random_uuid();
      found_at := written;
      SELECT done.outcome, done.used INTO outcome, used FROM storage_write(
        app, club, owners[i], collections[i], keys[i], new_values[i], found_version, written_at, NULL,
        if_match[i]::text[], if_none_match[i]::text[], member, false) done;
    ELSIF ops[i] = 'delete' THEN
      SELECT done.outcome, done.used INTO outcome, used FROM storage_delete(
        app, club, owners[i], collections[i], keys[i], if_match[i]::text[], if_none_match[i]::text[], NULL) done;
    ELSE
      SELECT octet_length(value), version, floor(extract(epoch FROM "updatedAt")) INTO found_bytes, found_version, found_at
      FROM "StorageEntry"
      WHERE "appId" = app AND "clubId" = club AND owner = owners[i] AND collection = collections[i] AND key = keys[i];
      IF NOT storage_meets(found_version::text, if_match[i]::text[], if_none_match[i]::text[]) THEN
        outcome := 'changed';
      ELSIF found_version IS NULL THEN
        outcome := 'missing';
      ELSE
        outcome := 'found';
        read_bytes := read_bytes + found_bytes;
        IF read_bytes <= most_read THEN
          SELECT value INTO found_value FROM "StorageEntry"
          WHERE "appId" = app AND "clubId" = club AND owner = owners[i] AND collection = collections[i] AND key = keys[i];
        END IF;
      END IF;
    END IF;
    IF outcome = 'changed' THEN
      RAISE EXCEPTION 'An entry of the batch has changed.' USING ERRCODE = 'SB001', DETAIL = (i - 1)::text;
    END IF;
    RETURN NEXT;
  END LOOP;

  SELECT entries INTO counted FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club;
  IF used > quota AND used > used_before OR counted > storage_max_entries() AND counted > counted_before THEN
    RAISE EXCEPTION 'The batch exceeds the quota.' USING ERRCODE = 'SB002';
  ELSIF read_bytes > most_read THEN
    RAISE EXCEPTION 'The batch reads too much.' USING ERRCODE = 'SB003', DETAIL = read_bytes::text;
  END IF;
END $$;
