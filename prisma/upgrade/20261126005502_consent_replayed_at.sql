-- AlterTable
ALTER TABLE "Consent" ADD COLUMN     "replayedAt" TIMESTAMPTZ(3);
