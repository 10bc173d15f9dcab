-- CreateTable
CREATE TABLE "CollectionRule" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "rule" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "CollectionRule_pkey" PRIMARY KEY ("appId","collection"),
    CONSTRAINT "CollectionRule_collection_check" CHECK ("collection" ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT "CollectionRule_rule_check" CHECK ("rule" IN ('author', 'app'))
);

-- AddForeignKey
ALTER TABLE "CollectionRule" ADD CONSTRAINT "CollectionRule_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
