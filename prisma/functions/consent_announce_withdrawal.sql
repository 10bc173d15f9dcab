CREATE OR REPLACE FUNCTION consent_announce_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, at)
  VALUES (NEW."clientId", NEW."organisationId", NEW."personId", 'consentWithdrawn', NEW."withdrawnAt");
  RETURN NULL;
END $$;
