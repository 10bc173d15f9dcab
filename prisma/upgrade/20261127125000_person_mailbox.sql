ALTER TABLE "Person" ADD COLUMN     "mailbox" TEXT COLLATE "C" CHECK ("mailbox" IS NULL OR texts_fit("mailbox"));
