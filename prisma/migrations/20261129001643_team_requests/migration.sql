CREATE TYPE "TeamRequestState" AS ENUM ('requested', 'refused');

CREATE TABLE "TeamRequest" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "personId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("name") AND char_length("name") BETWEEN 1 AND 100),
    "purpose" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("purpose") AND char_length("purpose") BETWEEN 1 AND 1000),
    "state" "TeamRequestState" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "requestedAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("requestedAt")),
    "reason" TEXT COLLATE "C" CHECK ("reason" IS NULL OR texts_fit("reason")),
    "refusedAt" TIMESTAMPTZ(3) CHECK (time_fits("refusedAt")),

    CONSTRAINT "TeamRequest_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "TeamRequest_refusal_check" CHECK (num_nonnulls("reason", "refusedAt") = CASE "state" WHEN 'refused' THEN 2 ELSE 0 END)
);
-- One at a time.
CREATE UNIQUE INDEX "TeamRequest_personId_key" ON "TeamRequest"("personId");
CREATE INDEX "TeamRequest_refusedAt_idx" ON "TeamRequest"("refusedAt");

ALTER TABLE "TeamRequest" ADD CONSTRAINT "TeamRequest_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
