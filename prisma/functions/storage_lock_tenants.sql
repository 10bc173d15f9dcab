-- Writers lock app, club and membership before the usage row, as removals do; the foreign keys alone would lock them after it. A
-- function of its own, as on Citus these are on every node: deploy/citus.sql leaves them to the foreign keys there.
CREATE OR REPLACE FUNCTION storage_lock_tenants(app text, club text, member text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "App" WHERE id = app FOR KEY SHARE;
  PERFORM FROM "Organisation" WHERE id = club FOR KEY SHARE;
  IF member <> '' THEN
    PERFORM FROM "Membership" WHERE "organisationId" = club AND "personId" = member FOR KEY SHARE;
  END IF;
END $$;
