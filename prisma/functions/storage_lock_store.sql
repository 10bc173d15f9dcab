-- Locks app, club, membership and usage row, in the order of storage_write and of removals, before these operations.
CREATE OR REPLACE FUNCTION storage_lock_store(app text, club text, member text, owners text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM storage_lock_tenants(app, club, CASE WHEN member = ANY (owners) THEN member ELSE '' END);
  INSERT INTO "StorageUsage" ("appId", "clubId", entries) VALUES (app, club, 0) ON CONFLICT DO NOTHING;
  PERFORM FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
END $$;
