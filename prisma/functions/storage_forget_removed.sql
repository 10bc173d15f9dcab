-- Statement by statement: each reads all shared entries of the clubs.
CREATE OR REPLACE FUNCTION storage_forget_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM storage_forget_members(club, members)
  FROM (SELECT "organisationId" AS club, array_agg("personId") AS members FROM old_memberships GROUP BY 1 ORDER BY 1) removed;
  RETURN NULL;
END $$;
