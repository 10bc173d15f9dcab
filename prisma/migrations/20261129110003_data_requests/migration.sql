CREATE TABLE "DataRequest" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "personId" TEXT COLLATE "C" NOT NULL,
    "requestedAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("requestedAt")),
    "deadline" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("deadline")),
    "answeredAt" TIMESTAMPTZ(3) CHECK (time_fits("answeredAt")),

    CONSTRAINT "DataRequest_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "DataRequest_times_check" CHECK ("deadline" > "requestedAt" AND "answeredAt" >= "requestedAt")
);
CREATE INDEX "DataRequest_personId_idx" ON "DataRequest"("personId");
CREATE INDEX "DataRequest_answeredAt_idx" ON "DataRequest"("answeredAt");
-- One at a time.
CREATE UNIQUE INDEX "DataRequest_open_key" ON "DataRequest"("personId") WHERE "answeredAt" IS NULL;

ALTER TABLE "DataRequest" ADD CONSTRAINT "DataRequest_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
