CREATE OR REPLACE TRIGGER "Lesson_kind_trigger" BEFORE INSERT OR UPDATE OF "academyId" ON "Lesson"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_academy();
