-- "StorageUsage" has the number of an app's entries in a club and the sum of their bytes, however they change: by the service, by
-- Studio, or by the cascade that removes a member. The same update numbers the change: it holds the lock of the store until the end
-- of the transaction, so that numbers become visible in their order.
CREATE OR REPLACE FUNCTION storage_add_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  growth bigint := octet_length(NEW.value);
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "StorageUsage" ("appId", "clubId", bytes, entries) VALUES (NEW."appId", NEW."clubId", growth, 1)
    ON CONFLICT ("appId", "clubId") DO UPDATE SET bytes = "StorageUsage".bytes + EXCLUDED.bytes,
      entries = coalesce("StorageUsage".entries, storage_count(NEW."appId", NEW."clubId")) + 1, changes = "StorageUsage".changes + 1
    RETURNING changes INTO last;
  ELSIF (NEW."appId", NEW."clubId") <> (OLD."appId", OLD."clubId") THEN
    RAISE EXCEPTION 'The app and the club of a storage entry cannot change.';
  ELSE
    growth := growth - octet_length(OLD.value);
    -- One number for the former address, if the entry has moved: storage_tally_moved counts that.
    UPDATE "StorageUsage" SET bytes = bytes + growth, changes = changes + 2
    WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" RETURNING changes INTO last;
    IF (NEW.owner, NEW.collection, NEW.key) = (OLD.owner, OLD.collection, OLD.key) THEN
      UPDATE "StorageCollection" SET bytes = bytes + growth, "updatedAt" = greatest("updatedAt", NEW."updatedAt")
      WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" AND owner = NEW.owner AND collection = NEW.collection;
    ELSE
      INSERT INTO "StorageChange" ("appId", "clubId", owner, collection, number, key, at)
      VALUES (OLD."appId", OLD."clubId", OLD.owner, OLD.collection, last - 1, OLD.key, clock_timestamp());
    END IF;
  END IF;
  INSERT INTO "StorageChange" ("appId", "clubId", owner, collection, number, key, version, at)
  VALUES (NEW."appId", NEW."clubId", NEW.owner, NEW.collection, last, NEW.key, NEW.version, clock_timestamp());
  RETURN NULL;
END $$;
