-- What a member allowed without the consent page ends with the consent that covered it, whatever ends this. A sign-in that skips
-- the page locks the consent until its own row is stored, so it is found here, or finds the consent withdrawn.
CREATE OR REPLACE FUNCTION consent_end_skipped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "Consent" SET "withdrawnAt" = NEW."withdrawnAt" WHERE "basis" = NEW.id AND "withdrawnAt" IS NULL;
  RETURN NULL;
END $$;
