-- "StorageUsage".bytes is the sum of the bytes of an app's values in a club, however they change: by the service, by Studio, or by the
-- cascade that removes a member. The same update numbers the change: it holds the lock of the store until the end of the
-- transaction, so that numbers become visible in their order.
CREATE OR REPLACE FUNCTION storage_add_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "StorageUsage" ("appId", "clubId", bytes) VALUES (NEW."appId", NEW."clubId", octet_length(NEW.value))
    ON CONFLICT ("appId", "clubId") DO UPDATE SET bytes = "StorageUsage".bytes + EXCLUDED.bytes, changes = "StorageUsage".changes + 1
    RETURNING changes INTO last;
  ELSIF (NEW."appId", NEW."clubId") <> (OLD."appId", OLD."clubId") THEN
    RAISE EXCEPTION 'The app and the club of a storage entry cannot change.';
  ELSE
    -- One number for the former address, if the entry has moved.
    UPDATE "StorageUsage" SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value), changes = changes + 2
    WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId" RETURNING changes INTO last;
    IF (NEW.owner, NEW.collection, NEW.key) <> (OLD.owner, OLD.collection, OLD.key) THEN
      INSERT INTO "StorageChange" ("appId", "clubId", owner, collection, number, key, at)
      VALUES (OLD."appId", OLD."clubId", OLD.owner, OLD.collection, last - 1, OLD.key, clock_timestamp());
    END IF;
  END IF;
  INSERT INTO "StorageChange" ("appId", "clubId", owner, collection, number, key, version, at)
  VALUES (NEW."appId", NEW."clubId", NEW.owner, NEW.collection, last, NEW.key, NEW.version, clock_timestamp());
  RETURN NULL;
END $$;
