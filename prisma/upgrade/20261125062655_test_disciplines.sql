-- AlterTable
ALTER TABLE "Discipline" ADD COLUMN     "testTeamId" TEXT COLLATE "C";

-- CreateIndex
CREATE INDEX "Discipline_testTeamId_idx" ON "Discipline"("testTeamId");

-- AddForeignKey
ALTER TABLE "Discipline" ADD CONSTRAINT "Discipline_testTeamId_fkey" FOREIGN KEY ("testTeamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
