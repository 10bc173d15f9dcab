CREATE OR REPLACE TRIGGER "Event_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Event"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
