-- AlterTable
ALTER TABLE "TeamInvitation" ADD COLUMN     "personId" TEXT COLLATE "C";

-- CreateIndex
CREATE INDEX "TeamInvitation_personId_idx" ON "TeamInvitation"("personId");

-- AddForeignKey
ALTER TABLE "TeamInvitation" ADD CONSTRAINT "TeamInvitation_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
