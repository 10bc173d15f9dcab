-- AlterTable
ALTER TABLE "App" ADD COLUMN     "refusal" JSONB;

-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "refusal" JSONB;
