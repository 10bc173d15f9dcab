-- Nodes of 0.1.0 leave a mail without a team to those of this release.
ALTER TABLE "Mail" ALTER COLUMN "teamId" DROP NOT NULL;
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_team_check" CHECK ("teamId" IS NOT NULL OR "personId" IS NOT NULL);
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
