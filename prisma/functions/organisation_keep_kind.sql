CREATE OR REPLACE FUNCTION organisation_keep_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The organisation % keeps the kind %.', OLD.id, OLD.kind
    USING ERRCODE = 'check_violation', CONSTRAINT = 'Organisation_kind_check', TABLE = 'Organisation';
END $$;
