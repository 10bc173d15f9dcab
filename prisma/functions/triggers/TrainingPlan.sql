CREATE OR REPLACE TRIGGER "TrainingPlan_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "TrainingPlan"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
