CREATE OR REPLACE TRIGGER "MemberCard_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "MemberCard"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
