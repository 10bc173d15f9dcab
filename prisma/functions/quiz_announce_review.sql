CREATE OR REPLACE FUNCTION quiz_announce_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, "resultId", at)
  SELECT DISTINCT "clientId", "organisationId", NEW."personId", 'quizReviewed'::"MemberEvent", NEW.id,
    date_trunc('milliseconds', statement_timestamp())
  FROM "Quiz" JOIN "Consent" ON "organisationId" = "academyId" AND "Consent"."personId" = NEW."personId" AND "withdrawnAt" IS NULL
  WHERE "Quiz".id = NEW."quizId";
  RETURN NULL;
END $$;
