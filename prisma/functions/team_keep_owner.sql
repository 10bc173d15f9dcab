-- A team keeps an owner. The lock lets one of two owners that end each other wait, and then see that the other has ended. A person
-- who is erased, and a team that is deleted, take their rows along.
CREATE OR REPLACE FUNCTION team_keep_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Team" WHERE id = OLD."teamId" FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM FROM "TeamMember" WHERE "teamId" = OLD."teamId" AND role = 'owner';
  IF FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM FROM "Person" WHERE id = OLD."personId";
  IF FOUND THEN
    RAISE EXCEPTION 'The team % keeps at least one owner.', OLD."teamId"
      USING ERRCODE = 'check_violation', CONSTRAINT = 'TeamMember_lastOwner_check', TABLE = 'TeamMember';
  END IF;
  RETURN NULL;
END $$;
