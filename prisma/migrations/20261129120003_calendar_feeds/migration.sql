CREATE TABLE "CalendarFeed" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "hash" TEXT COLLATE "C" NOT NULL CHECK ("hash" ~ '^[A-Za-z0-9_-]{43}$'),
    "personId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "consentId" TEXT COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt")),

    CONSTRAINT "CalendarFeed_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "CalendarFeed_hash_key" ON "CalendarFeed"("hash");
CREATE INDEX "CalendarFeed_personId_clubId_idx" ON "CalendarFeed"("personId", "clubId");
CREATE INDEX "CalendarFeed_clubId_idx" ON "CalendarFeed"("clubId");
CREATE INDEX "CalendarFeed_consentId_idx" ON "CalendarFeed"("consentId");

ALTER TABLE "CalendarFeed" ADD CONSTRAINT "CalendarFeed_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "CalendarFeed" ADD CONSTRAINT "CalendarFeed_clubId_fkey" FOREIGN KEY ("clubId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "CalendarFeed" ADD CONSTRAINT "CalendarFeed_consentId_fkey" FOREIGN KEY ("consentId") REFERENCES "Consent"("id") ON DELETE CASCADE ON UPDATE CASCADE;
