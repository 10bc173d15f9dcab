CREATE OR REPLACE TRIGGER "Group_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Group"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE OR REPLACE TRIGGER "Group_removeEvents_trigger" BEFORE DELETE ON "Group" FOR EACH ROW EXECUTE FUNCTION group_remove_events();
