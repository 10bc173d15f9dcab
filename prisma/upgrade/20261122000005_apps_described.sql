-- AlterTable
ALTER TABLE "App" ADD COLUMN     "description" TEXT COLLATE "C",
ADD COLUMN     "homepage" TEXT COLLATE "C",
ADD COLUMN     "logo" BYTEA,
ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "wanted" JSONB;
