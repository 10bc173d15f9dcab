-- An end in the future is announced when it comes: the row has its time. Which apps get an event is decided then.
CREATE OR REPLACE FUNCTION membership_announce_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, at)
  SELECT DISTINCT "clientId", NEW."organisationId", NEW."personId", 'left'::"MemberEvent", NEW."leftAt" FROM "Consent"
  WHERE "personId" = NEW."personId" AND "organisationId" = NEW."organisationId" AND "withdrawnAt" IS NULL;
  RETURN NULL;
END $$;
