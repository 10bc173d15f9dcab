-- Leaving ends a member's consents and calendar addresses for the organisation. While they are away, the missing membership refuses
-- everything (404, as documented); a return, by the service, SQL or Studio, finds the consents withdrawn and the addresses gone.
CREATE OR REPLACE FUNCTION consent_withdraw() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "Consent" SET "withdrawnAt" = clock_timestamp()
  WHERE "personId" = NEW."personId" AND "organisationId" = NEW."organisationId" AND "withdrawnAt" IS NULL;
  DELETE FROM "CalendarFeed" WHERE "personId" = NEW."personId" AND "clubId" = NEW."organisationId";
  RETURN NULL;
END $$;
