-- AlterTable
ALTER TABLE "App" ADD COLUMN     "formerSecret" TEXT COLLATE "C" CHECK ("formerSecret" IS NULL OR texts_fit("formerSecret")),
ADD COLUMN     "formerUntil" TIMESTAMPTZ(3) CHECK (time_fits("formerUntil")),
ADD CONSTRAINT "App_former_check" CHECK (("formerSecret" IS NULL) = ("formerUntil" IS NULL));

-- Former secrets are removed once they no longer sign.
CREATE INDEX "App_former_idx" ON "App" ("formerUntil") WHERE "formerUntil" IS NOT NULL;
