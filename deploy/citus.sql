-- Distributes the storage by club over the nodes of a Citus cluster: docs/scaling.md. Run it once on the coordinator, after
-- the migrations, as a superuser; with many rows it takes long, and writers wait for it:
--   psql "$DATABASE_URL" --single-transaction -v ON_ERROR_STOP=1 -f deploy/citus.sql

-- The triggers of the storage touch rows of their own store only, and so of their own node.
SET LOCAL citus.enable_unsafe_triggers = on;

-- App, club and membership are on every node: a lock on them would be a lock on all nodes, and two writers would meet in both
-- orders. The foreign keys lock them on the writer's own node.
CREATE OR REPLACE FUNCTION storage_lock_tenants(app text, club text, member text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
END $$;

-- A removal would lock usage rows of other nodes.
DROP TRIGGER "App_lockUsage_trigger" ON "App";
DROP TRIGGER "Organisation_lockUsage_trigger" ON "Organisation";
DROP TRIGGER "Membership_lockUsage_trigger" ON "Membership";

-- As would the removal of a member's id from shared entries: docs/scaling.md.
DROP TRIGGER "Membership_forgetRemoved_trigger" ON "Membership";
DROP TRIGGER "Membership_forgetMoved_trigger" ON "Membership";

-- Consents and calendar addresses stay on the coordinator, whose copy of the membership ends them.
CREATE OR REPLACE FUNCTION consent_withdraw() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  withdrawn timestamptz := clock_timestamp();
BEGIN
  IF (SELECT groupid FROM pg_dist_local_group) = 0 THEN
    UPDATE "Consent" SET "withdrawnAt" = withdrawn
    WHERE "personId" = NEW."personId" AND "organisationId" = NEW."organisationId" AND "withdrawnAt" IS NULL;
    DELETE FROM "CalendarFeed" WHERE "personId" = NEW."personId" AND "clubId" = NEW."organisationId";
  END IF;
  RETURN NULL;
END $$;

-- As does the announcement of an end.
CREATE OR REPLACE FUNCTION membership_announce_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT groupid FROM pg_dist_local_group) = 0 THEN
    INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, at)
    SELECT DISTINCT "clientId", NEW."organisationId", NEW."personId", 'left'::"MemberEvent", NEW."leftAt" FROM "Consent"
    WHERE "personId" = NEW."personId" AND "organisationId" = NEW."organisationId" AND "withdrawnAt" IS NULL;
  END IF;
  RETURN NULL;
END $$;

-- Citus cannot plan a statement that reads removed entries beside a table, so each change is a statement of its own.
CREATE OR REPLACE FUNCTION storage_subtract_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
  entry record;
  last bigint;
BEGIN
  FOR removed IN
    SELECT "appId", "clubId", sum(octet_length(value)) AS bytes, count(*) AS entries FROM old_entries GROUP BY 1, 2 ORDER BY 1, 2
  LOOP
    UPDATE "StorageUsage" SET bytes = bytes - removed.bytes, changes = changes + removed.entries,
      entries = coalesce(entries, storage_count(removed."appId", removed."clubId")) - removed.entries
    WHERE "appId" = removed."appId" AND "clubId" = removed."clubId" RETURNING changes INTO last;
    CONTINUE WHEN NOT FOUND;
    FOR entry IN
      SELECT owner, collection, key FROM old_entries WHERE "appId" = removed."appId" AND "clubId" = removed."clubId"
    LOOP
      IF entry.owner = '' OR EXISTS (
        SELECT FROM "Membership" WHERE "organisationId" = removed."clubId" AND "personId" = entry.owner) THEN
        INSERT INTO "StorageChange" ("appId", "clubId", owner, collection, number, key, at)
        VALUES (removed."appId", removed."clubId", entry.owner, entry.collection, last, entry.key, clock_timestamp());
        last := last - 1;
      END IF;
    END LOOP;
  END LOOP;
  RETURN NULL;
END $$;

-- Later releases leave alone what has no checksum there.
UPDATE "_functions" SET checksum = NULL WHERE name IN (
  'functions/storage_lock_tenants.sql', 'functions/consent_withdraw.sql', 'functions/membership_announce_end.sql',
  'functions/storage_subtract_usage.sql', 'functions/triggers/App.sql', 'functions/triggers/Organisation.sql',
  'functions/triggers/Membership.sql');

-- Citus distributes no table whose key changes with another row. A club and an app with storage keep their ids anyway
-- (storage_add_usage refuses others). Not in a migration, which would lock these tables of every installation: with writers in
-- a circle, as a key locks both of its tables.
ALTER TABLE "StorageUsage" DROP CONSTRAINT "StorageUsage_appId_fkey", DROP CONSTRAINT "StorageUsage_clubId_fkey",
  ADD CONSTRAINT "StorageUsage_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE,
  ADD CONSTRAINT "StorageUsage_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE;
ALTER TABLE "StorageEntry" DROP CONSTRAINT "StorageEntry_appId_fkey", DROP CONSTRAINT "StorageEntry_clubId_fkey",
  DROP CONSTRAINT "StorageEntry_clubId_memberId_fkey",
  ADD CONSTRAINT "StorageEntry_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE,
  ADD CONSTRAINT "StorageEntry_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE,
  ADD CONSTRAINT "StorageEntry_clubId_memberId_fkey" FOREIGN KEY ("clubId", "memberId")
    REFERENCES "Membership"("organisationId", "personId") ON DELETE CASCADE;

-- Each after the tables that its foreign keys point to.
SELECT create_reference_table('"Team"');
SELECT create_reference_table('"Organisation"');
SELECT create_reference_table('"Person"');
SELECT create_reference_table('"App"');
SELECT create_reference_table('"CollectionRule"');
SELECT create_reference_table('"Client"');
SELECT create_reference_table('"Membership"');

-- Rows are copied as they are. Triggers would count them again, and shards with deferred ones take no foreign key meanwhile.
ALTER TABLE "StorageUsage" DISABLE TRIGGER USER;
ALTER TABLE "StorageCollection" DISABLE TRIGGER USER;
ALTER TABLE "StorageChange" DISABLE TRIGGER USER;
ALTER TABLE "StorageEntry" DISABLE TRIGGER USER;
SELECT create_distributed_table('"StorageUsage"', 'clubId', colocate_with => 'none');
SELECT create_distributed_table('"StorageCollection"', 'clubId', colocate_with => '"StorageUsage"');
SELECT create_distributed_table('"StorageChange"', 'clubId', colocate_with => '"StorageUsage"');
SELECT create_distributed_table('"StorageRequest"', 'clubId', colocate_with => '"StorageUsage"');
SELECT create_distributed_table('"StorageEntry"', 'clubId', colocate_with => '"StorageUsage"');
ALTER TABLE "StorageUsage" ENABLE TRIGGER USER;
ALTER TABLE "StorageCollection" ENABLE TRIGGER USER;
ALTER TABLE "StorageChange" ENABLE TRIGGER USER;
ALTER TABLE "StorageEntry" ENABLE TRIGGER USER;

-- A write runs whole on the club's node.
SELECT create_distributed_function(
  'storage_write(text,text,text,text,text,text,uuid,timestamptz,bigint,text[],text[],text,boolean)', 'club',
  colocate_with => '"StorageUsage"');
SELECT create_distributed_function(
  'storage_delete(text,text,text,text,text,text[],text[],text)', 'club', colocate_with => '"StorageUsage"');
SELECT create_distributed_function(
  'storage_batch(text,text,text,text[],text[],text[],text[],text[],text[],text[],timestamptz,bigint,bigint,boolean)', 'club',
  colocate_with => '"StorageUsage"');
SELECT create_distributed_function(
  'storage_once(text,text,text,text[],text[],text[],text[],text[],text[],text[],timestamptz,bigint,bigint,text,text,text)', 'club',
  colocate_with => '"StorageUsage"');
SELECT create_distributed_function(
  'storage_edit(text,text,text,text[],text[],text[],text[],text[],text[],text[],timestamptz,bigint,bigint,boolean,text[],text[],text[],text,text)', 'club',
  colocate_with => '"StorageUsage"');
SELECT create_distributed_function('storage_forget_members(text,text[])', 'club', colocate_with => '"StorageUsage"');

-- The erasure of a person touches entries of all nodes, and then tables that are on every node: over one connection to each.
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET citus.multi_shard_modify_mode = sequential', current_database());
END $$;
