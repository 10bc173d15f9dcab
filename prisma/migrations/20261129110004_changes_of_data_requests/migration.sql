-- Small: a row goes a minute after its event.
ALTER TABLE "MemberChange"
  DROP CONSTRAINT "MemberChange_resultId_check",
  ADD CONSTRAINT "MemberChange_resultId_check" CHECK (("kind" IN ('quizReviewed', 'dataRequested')) = ("resultId" <> ''));
