CREATE OR REPLACE TRIGGER "Participation_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Participation"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
