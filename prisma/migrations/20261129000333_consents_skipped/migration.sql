ALTER TABLE "Consent"
  ADD COLUMN "shown" TEXT COLLATE "C" CHECK ("shown" IS NULL OR texts_fit("shown")),
  ADD COLUMN "basis" TEXT COLLATE "C" CHECK ("basis" IS NULL OR texts_fit("basis"));
