-- SB008 unless each entry has the version that is expected of it: '' of an absent one, null of one with any. The caller has the lock of
-- the store.
CREATE OR REPLACE FUNCTION storage_expect(
  app text, club text, owners text[], collections text[], keys text[], expected text[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM unnest(owners, collections, keys, expected) given (of_owner, in_collection, under_key, version)
      LEFT JOIN "StorageEntry" entry ON entry."appId" = app AND entry."clubId" = club AND entry.owner = of_owner
        AND entry.collection = in_collection AND entry.key = under_key
    WHERE given.version <> coalesce(entry.version::text, ''))
  THEN
    RAISE EXCEPTION 'An entry of the batch has another version.' USING ERRCODE = 'SB008';
  END IF;
END $$;
