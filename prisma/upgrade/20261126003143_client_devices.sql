-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "devices" BOOLEAN NOT NULL DEFAULT false;
