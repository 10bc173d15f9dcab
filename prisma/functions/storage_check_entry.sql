-- Changes by other hands than storage_write: the value has to be JSON, version and time are new, who writes is unknown, and who
-- made the entry stays. Of type json, as jsonb refuses values that the service takes: "\u0000", 1e400, lone surrogates.
-- storage_write, whose caller has checked the value, announces its own statement by a setting, which an error takes back too. (A
-- SET clause of the function needs a superuser.)
CREATE OR REPLACE FUNCTION storage_check_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM NEW.value::json;
  NEW.version := gen_random_uuid();
  NEW."updatedAt" := clock_timestamp();
  NEW."updatedBy" := NULL;
  NEW."createdBy" := CASE WHEN TG_OP = 'UPDATE' AND NEW.owner = '' THEN OLD."createdBy" END;
  RETURN NEW;
END $$;
