-- Shared entries no longer name these members of a club: they keep version and time, as their values have not changed. And the
-- changes of private entries go, which are gone with the membership, as do the keys of their requests.
CREATE OR REPLACE FUNCTION storage_forget_members(club text, members text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  announced text := set_config('storage.put', 'on', true);
BEGIN
  -- Store by store, as the primary key begins with the app.
  UPDATE "StorageEntry" entry SET
    "createdBy" = CASE WHEN "createdBy" <> ALL (members) THEN "createdBy" END,
    "updatedBy" = CASE WHEN "updatedBy" <> ALL (members) THEN "updatedBy" END
  FROM "StorageUsage" store
  WHERE store."clubId" = club AND entry."appId" = store."appId" AND entry."clubId" = club AND owner = ''
    AND ("createdBy" = ANY (members) OR "updatedBy" = ANY (members));
  announced := set_config('storage.put', 'off', true);
  DELETE FROM "StorageChange" change USING "StorageUsage" store
  WHERE store."clubId" = club AND change."appId" = store."appId" AND change."clubId" = club AND owner = ANY (members);
  DELETE FROM "StorageRequest" request USING "StorageUsage" store
  WHERE store."clubId" = club AND request."appId" = store."appId" AND request."clubId" = club AND "memberId" = ANY (members);
END $$;
