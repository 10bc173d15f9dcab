ALTER TABLE "Organisation" ADD COLUMN "timeZone" TEXT COLLATE "C" NOT NULL DEFAULT 'UTC' CHECK (texts_fit("timeZone"));
