ALTER TABLE "ClubApproval" ADD COLUMN "ending" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "ClubApproval_ending_idx" ON "ClubApproval" ("id") WHERE "ending";
