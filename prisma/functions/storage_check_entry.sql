-- Changes by other hands than storage_put: the value has to be JSON, and version and time are new. Of type json, as jsonb
-- refuses values that the service takes: "\u0000", 1e400, lone surrogates. storage_put, whose caller has checked the value,
-- announces its own statement by a setting, which an error takes back too. (A SET clause of the function needs a superuser.)
CREATE OR REPLACE FUNCTION storage_check_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM NEW.value::json;
  NEW.version := gen_random_uuid();
  NEW."updatedAt" := clock_timestamp();
  RETURN NEW;
END $$;
