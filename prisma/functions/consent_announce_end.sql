-- A consent that is given while the end of the membership is known already: membership_announce_end has not seen it.
CREATE OR REPLACE FUNCTION consent_announce_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, at)
  SELECT NEW."clientId", NEW."organisationId", NEW."personId", 'left', "leftAt" FROM "Membership"
  WHERE "organisationId" = NEW."organisationId" AND "personId" = NEW."personId" AND "leftAt" > clock_timestamp();
  RETURN NULL;
END $$;
