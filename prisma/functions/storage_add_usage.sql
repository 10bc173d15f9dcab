-- "StorageUsage".bytes is the sum of the bytes of an app's values in a club, however they change: by the service, by Studio, or by the
-- cascade that removes a member.
CREATE OR REPLACE FUNCTION storage_add_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "StorageUsage" ("appId", "clubId", bytes) VALUES (NEW."appId", NEW."clubId", octet_length(NEW.value))
    ON CONFLICT ("appId", "clubId") DO UPDATE SET bytes = "StorageUsage".bytes + EXCLUDED.bytes;
  ELSIF (NEW."appId", NEW."clubId") <> (OLD."appId", OLD."clubId") THEN
    RAISE EXCEPTION 'The app and the club of a storage entry cannot change.';
  ELSE
    UPDATE "StorageUsage" SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId";
  END IF;
  RETURN NULL;
END $$;
