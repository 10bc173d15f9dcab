-- Changes by other hands than storage_write: the value has to be JSON, the address one that the service takes, version and time are
-- new, who writes is unknown, and who made the entry stays. "owner" is part of the primary key, which cannot hold null; "memberId" is
-- the same value for the foreign key. Of type json, as jsonb refuses values that the service takes: "\u0000", 1e400, lone surrogates.
-- storage_write, whose caller has checked the value, announces its own statement by a setting, which an error takes back too. (A
-- SET clause of the function needs a superuser.)
CREATE OR REPLACE FUNCTION storage_check_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM NEW.value::json;
  IF NOT storage_address_fits(NEW.collection, NEW.key) OR NEW.owner <> coalesce(NEW."memberId", '') THEN
    RAISE EXCEPTION 'A collection and a key are 1 to 64 letters, digits, _ or -, and the owner is the member, or empty.'
      USING ERRCODE = 'check_violation';
  END IF;
  NEW.version := gen_random_uuid();
  NEW."updatedAt" := clock_timestamp();
  NEW."updatedBy" := NULL;
  NEW."createdBy" := CASE WHEN TG_OP = 'UPDATE' AND NEW.owner = '' THEN OLD."createdBy" END;
  RETURN NEW;
END $$;
