CREATE TABLE "Guardian" (
    "childId" TEXT COLLATE "C" NOT NULL,
    "guardianId" TEXT COLLATE "C" NOT NULL,
    "until" DATE CHECK ("until" BETWEEN '0001-01-01' AND '9999-12-31'),
    "version" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Guardian_pkey" PRIMARY KEY ("childId","guardianId"),
    CONSTRAINT "Guardian_another_check" CHECK ("childId" <> "guardianId")
);
CREATE INDEX "Guardian_guardianId_idx" ON "Guardian"("guardianId");
ALTER TABLE "Guardian" ADD CONSTRAINT "Guardian_childId_fkey" FOREIGN KEY ("childId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "Guardian" ADD CONSTRAINT "Guardian_guardianId_fkey" FOREIGN KEY ("guardianId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
