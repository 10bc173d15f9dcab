-- CreateEnum
CREATE TYPE "ClientState" AS ENUM ('active', 'requested');

-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "purpose" JSONB,
ADD COLUMN     "requestedAt" TIMESTAMPTZ(3),
ADD COLUMN     "state" "ClientState" NOT NULL DEFAULT 'active',
ADD COLUMN     "testOnly" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "wanted" JSONB;
