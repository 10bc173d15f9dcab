-- AlterTable
ALTER TABLE "App" ADD COLUMN     "wantedLogo" BYTEA;
