CREATE OR REPLACE FUNCTION organisation_check_academy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Organisation" WHERE id = NEW."academyId" AND kind <> 'academy';
  IF FOUND THEN
    PERFORM organisation_refuse(TG_TABLE_NAME, NEW."academyId", 'academy');
  END IF;
  RETURN NEW;
END $$;
