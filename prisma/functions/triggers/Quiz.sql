CREATE OR REPLACE TRIGGER "Quiz_kind_trigger" BEFORE INSERT OR UPDATE OF "academyId" ON "Quiz"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_academy();
