CREATE OR REPLACE TRIGGER "TeamMember_keepOwner_trigger" AFTER UPDATE OR DELETE ON "TeamMember"
FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION team_keep_owner();
