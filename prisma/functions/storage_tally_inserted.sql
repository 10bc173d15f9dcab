CREATE OR REPLACE FUNCTION storage_tally_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM storage_tally(NEW."appId", NEW."clubId", NEW.owner, NEW.collection, 1);
  RETURN NULL;
END $$;
