-- The comparable form is of another address: the service computes it when it next looks for one.
CREATE OR REPLACE FUNCTION person_forget_mailbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."mailbox" := NULL;
  RETURN NEW;
END $$;
