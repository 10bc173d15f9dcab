ALTER TABLE "Organisation" ADD COLUMN "country" TEXT COLLATE "C"
  CHECK ("country" IS NULL OR texts_fit("country") AND "country" ~ '^[A-Z]{2}$');
