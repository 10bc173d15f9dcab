CREATE OR REPLACE TRIGGER "QuizResult_announceReview_trigger" AFTER UPDATE OF "reviewStatus" ON "QuizResult" FOR EACH ROW
  WHEN (OLD."reviewStatus" = 'pending_review' AND NEW."reviewStatus" <> 'pending_review') EXECUTE FUNCTION quiz_announce_review();
