-- The number of entries of a store whose usage row does not have it yet. Before the triggers of "StorageCollection" have run for a row.
CREATE OR REPLACE FUNCTION storage_count(app text, club text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(sum(entries), 0) FROM "StorageCollection" WHERE "appId" = app AND "clubId" = club);
END $$;
