-- AlterTable
ALTER TABLE "App" ADD COLUMN     "secretSetAt" TIMESTAMPTZ(3) CHECK (time_fits("secretSetAt"));
