-- Stores an attempt at a quiz with its answers, and completes the lesson, all or nothing. Attempts lock in one order, so that they
-- cannot deadlock: key, member, lesson. Each statement sees what was committed before it, so attempts are counted under the lock.
--
-- With a key, the response becomes the first one for it, unless another one counts already: that of a concurrent duplicate, whose
-- transaction this one waits for. A record of `expired` or earlier is replaced. The outcome is 'stored', 'repeated' with the
-- response that counts, or 'mismatch' when the key came with another body. Raises QU001 when the attempts are used up: returning
-- would keep the claim of the key.
CREATE FUNCTION quiz_submit(
  client text, person text, academy text, quiz text, under_key text, body_hash text, response text, expired timestamptz,
  result text, new_score double precision, has_passed boolean, review "ReviewStatus", graded integer, by_threshold double precision,
  submitted timestamptz, question_ids text[], answers text[], corrections boolean[], allowed integer, lesson text
) RETURNS TABLE (outcome text, first_response text) LANGUAGE plpgsql AS $$
DECLARE
  first_hash text;
BEGIN
  IF under_key IS NOT NULL THEN
    INSERT INTO "IdempotencyRecord" AS kept
      ("clientId", "personId", "organisationId", "quizId", "key", "bodyHash", "answer", "createdAt")
    VALUES (client, person, academy, quiz, under_key, body_hash, response, submitted)
    ON CONFLICT ("clientId", "personId", "quizId", "key") DO UPDATE SET
      "bodyHash" = CASE WHEN kept."createdAt" <= expired THEN excluded."bodyHash" ELSE kept."bodyHash" END,
      "answer" = CASE WHEN kept."createdAt" <= expired THEN excluded."answer" ELSE kept."answer" END,
      "createdAt" = CASE WHEN kept."createdAt" <= expired THEN excluded."createdAt" ELSE kept."createdAt" END
    RETURNING "bodyHash", "answer" INTO first_hash, first_response;
    IF first_hash <> body_hash THEN
      RETURN QUERY SELECT 'mismatch', NULL;
      RETURN;
    ELSIF first_response <> response THEN
      RETURN QUERY SELECT 'repeated', first_response;
      RETURN;
    END IF;
  END IF;

  IF allowed IS NOT NULL THEN
    PERFORM FROM "Membership" WHERE "organisationId" = academy AND "personId" = person FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM "QuizResult" WHERE "quizId" = quiz AND "personId" = person) >= allowed THEN
      RAISE EXCEPTION 'The % attempts at the quiz % are used up.', allowed, quiz USING ERRCODE = 'QU001';
    END IF;
  END IF;

  INSERT INTO "QuizResult"
    ("id", "quizId", "personId", "score", "passed", "reviewStatus", "gradedQuestions", "threshold", "submittedAt")
  VALUES (result, quiz, person, new_score, has_passed, review, graded, by_threshold, submitted);
  INSERT INTO "Answer" ("resultId", "quizId", "questionId", "value", "correct")
  SELECT result, quiz, given.question, given.answer, given.correction
  FROM unnest(question_ids, answers, corrections) AS given (question, answer, correction);
  IF lesson IS NOT NULL THEN
    INSERT INTO "LessonCompletion" ("lessonId", "personId", "completedAt") VALUES (lesson, person, submitted)
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN QUERY SELECT 'stored', first_response;
END $$;
