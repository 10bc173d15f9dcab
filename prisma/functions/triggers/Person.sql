CREATE OR REPLACE TRIGGER "Person_forgetMailbox_trigger" BEFORE UPDATE ON "Person" FOR EACH ROW
  WHEN (NEW."mailbox" IS NOT NULL AND OLD."email" <> NEW."email") EXECUTE FUNCTION person_forget_mailbox();
