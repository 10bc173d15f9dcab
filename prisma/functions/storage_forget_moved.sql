CREATE OR REPLACE FUNCTION storage_forget_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM storage_forget_members(OLD."organisationId", ARRAY[OLD."personId"]);
  RETURN NULL;
END $$;
