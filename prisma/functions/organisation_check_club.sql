CREATE OR REPLACE FUNCTION organisation_check_club() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Organisation" WHERE id = NEW."clubId" AND kind <> 'club';
  IF FOUND THEN
    PERFORM organisation_refuse(TG_TABLE_NAME, NEW."clubId", 'club');
  END IF;
  RETURN NEW;
END $$;
