-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "formerSecret" TEXT COLLATE "C" CHECK ("formerSecret" IS NULL OR texts_fit("formerSecret")),
ADD COLUMN     "formerUntil" TIMESTAMPTZ(3) CHECK (time_fits("formerUntil")),
ADD COLUMN     "secretCopiedAt" TIMESTAMPTZ(3) CHECK (time_fits("secretCopiedAt")),
ADD CONSTRAINT "Subscription_former_check" CHECK (("formerSecret" IS NULL) = ("formerUntil" IS NULL));
