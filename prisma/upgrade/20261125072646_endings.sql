-- AlterTable
ALTER TABLE "App" ADD COLUMN     "endsAt" TIMESTAMPTZ(3) CHECK (time_fits("endsAt"));

-- AlterTable
ALTER TABLE "Team" ADD COLUMN     "endsAt" TIMESTAMPTZ(3) CHECK (time_fits("endsAt"));
