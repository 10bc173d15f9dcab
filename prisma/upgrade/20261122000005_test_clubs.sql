-- AlterTable
ALTER TABLE "Organisation" ADD COLUMN     "testTeamId" TEXT COLLATE "C";

-- CreateIndex
CREATE INDEX "Organisation_testTeamId_idx" ON "Organisation"("testTeamId");

-- AddForeignKey
ALTER TABLE "Organisation" ADD CONSTRAINT "Organisation_testTeamId_fkey" FOREIGN KEY ("testTeamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
