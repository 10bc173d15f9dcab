-- The first of these operations that a rule of its collection refuses to the member, counted from 1; null if none. An entry without
-- an author belongs to no member. The caller's transaction holds the store from here on, so that the answer stays true until it has
-- written: app, club, membership and usage row are locked in the order of storage_write and of removals.
--
-- A rule that is changed at the same time counts or does not. Batches need no look at what their own operations have done: an entry
-- that the member makes or removes in the batch is the member's or nobody's.
CREATE OR REPLACE FUNCTION storage_refusal(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[]
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  ruled text;
BEGIN
  PERFORM storage_lock_store(app, club, member, owners);
  FOR i IN 1 .. cardinality(ops) LOOP
    IF owners[i] = '' AND ops[i] <> 'get' THEN
      SELECT rule INTO ruled FROM "CollectionRule" WHERE "appId" = app AND collection = collections[i];
      IF ruled = 'app' OR ruled = 'author' AND EXISTS (
        SELECT FROM "StorageEntry" WHERE "appId" = app AND "clubId" = club AND owner = '' AND collection = collections[i]
          AND key = keys[i] AND "createdBy" IS DISTINCT FROM member)
      THEN
        RETURN i;
      END IF;
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
