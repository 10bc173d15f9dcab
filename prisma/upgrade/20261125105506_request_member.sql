-- AlterTable
ALTER TABLE "RefusedRequest" ADD COLUMN     "member" TEXT COLLATE "C" CHECK ("member" ~ '^[0-9a-f]{32}$');

-- A member's refused requests are listed, and lose the hash when the person is erased.
CREATE INDEX "RefusedRequest_member_idx" ON "RefusedRequest" ("member", "teamId", "at" DESC, "id" DESC) WHERE "member" IS NOT NULL;
