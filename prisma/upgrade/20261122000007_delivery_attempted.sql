-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "lastAttemptAt" TIMESTAMPTZ(3);
