-- One that is created meanwhile is as dead as the consent, and goes with it.
CREATE OR REPLACE FUNCTION consent_end_feeds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "CalendarFeed" WHERE "consentId" = NEW.id;
  RETURN NULL;
END $$;
