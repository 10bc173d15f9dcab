CREATE OR REPLACE TRIGGER "Calendar_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Calendar"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
