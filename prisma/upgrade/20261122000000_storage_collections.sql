-- Pages of large collections look expensive, so they were compiled first: 28 ms for a page that takes 0.3 ms. Who is not the owner
-- of the database may set it for the role.
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'Set jit = off for the role or the database.';
END $$;

-- Half of a page stays free for the next versions of its rows (HOT).
CREATE TABLE "StorageCollection" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "owner" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "entries" BIGINT NOT NULL,

    CONSTRAINT "StorageCollection_pkey" PRIMARY KEY ("appId","clubId","owner","collection")
) WITH (fillfactor = 50);

-- Adds to the number of entries of a collection; one without entries has no row. The caller has locked the usage row of the
-- store. Until the next migration has counted the entries that are older than these triggers, the numbers are differences.
CREATE FUNCTION storage_tally(app text, club text, owned_by text, in_collection text, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
BEGIN
  UPDATE "StorageCollection" SET entries = entries + change
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection RETURNING entries INTO counted;
  IF NOT FOUND THEN
    INSERT INTO "StorageCollection" VALUES (app, club, owned_by, in_collection, change);
  ELSIF counted = 0 THEN
    DELETE FROM "StorageCollection"
    WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection;
  END IF;
END $$;

CREATE FUNCTION storage_tally_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM storage_tally(NEW."appId", NEW."clubId", NEW.owner, NEW.collection, 1);
  RETURN NULL;
END $$;

CREATE FUNCTION storage_tally_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "StorageUsage" WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" FOR NO KEY UPDATE;
  PERFORM storage_tally(OLD."appId", OLD."clubId", OLD.owner, OLD.collection, -1);
  PERFORM storage_tally(NEW."appId", NEW."clubId", NEW.owner, NEW.collection, 1);
  RETURN NULL;
END $$;

CREATE FUNCTION storage_tally_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
BEGIN
  FOR removed IN
    SELECT "appId", "clubId", owner, collection, count(*) AS entries FROM old_entries GROUP BY 1, 2, 3, 4 ORDER BY 1, 2
  LOOP
    PERFORM storage_tally(removed."appId", removed."clubId", removed.owner, removed.collection, -removed.entries);
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION storage_tally_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "StorageCollection";
  RETURN NULL;
END $$;

-- By their names they run after the triggers of the usage, which lock its row. An insertion is counted row by row: a trigger with
-- a table of new rows would copy the value of each PUT.
CREATE TRIGGER "StorageEntry_tallyInserted_trigger" AFTER INSERT ON "StorageEntry"
  FOR EACH ROW EXECUTE FUNCTION storage_tally_inserted();
CREATE TRIGGER "StorageEntry_tallyMoved_trigger" AFTER UPDATE OF owner, collection ON "StorageEntry"
  FOR EACH ROW WHEN ((OLD.owner, OLD.collection) <> (NEW.owner, NEW.collection)) EXECUTE FUNCTION storage_tally_moved();
CREATE TRIGGER "StorageEntry_tallyDeleted_trigger" AFTER DELETE ON "StorageEntry" REFERENCING OLD TABLE AS old_entries
  FOR EACH STATEMENT EXECUTE FUNCTION storage_tally_deleted();
CREATE TRIGGER "StorageEntry_tallyTruncated_trigger" AFTER TRUNCATE ON "StorageEntry"
  FOR EACH STATEMENT EXECUTE FUNCTION storage_tally_truncated();
