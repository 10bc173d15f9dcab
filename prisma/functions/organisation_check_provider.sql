CREATE OR REPLACE FUNCTION organisation_check_provider() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Organisation" WHERE id = NEW."providerId" AND kind <> 'provider';
  IF FOUND THEN
    PERFORM organisation_refuse(TG_TABLE_NAME, NEW."providerId", 'provider');
  END IF;
  RETURN NEW;
END $$;
