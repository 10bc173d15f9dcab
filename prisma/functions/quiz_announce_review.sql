-- Not for test academies, whose team gets an event from the portal.
CREATE OR REPLACE FUNCTION quiz_announce_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, "resultId", at)
  SELECT DISTINCT "clientId", "organisationId", NEW."personId", 'quizReviewed'::"MemberEvent", NEW.id,
    date_trunc('milliseconds', statement_timestamp())
  FROM "Quiz" JOIN "Organisation" academy ON academy.id = "academyId" AND "testTeamId" IS NULL
    JOIN "Consent" ON "organisationId" = academy.id AND "personId" = NEW."personId" AND "withdrawnAt" IS NULL
  WHERE "Quiz".id = NEW."quizId";
  RETURN NULL;
END $$;
