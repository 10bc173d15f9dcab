-- CreateTable
CREATE TABLE "EventKind" (
    "providerId" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "description" TEXT COLLATE "C" NOT NULL,
    "example" JSON NOT NULL,

    CONSTRAINT "EventKind_pkey" PRIMARY KEY ("providerId","type")
);

-- AddForeignKey
ALTER TABLE "EventKind" ADD CONSTRAINT "EventKind_providerId_fkey" FOREIGN KEY ("providerId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
