ALTER TABLE "PublishedEvent" ADD COLUMN "number" BIGINT;

CREATE TABLE "EventFeed" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "last" BIGINT NOT NULL DEFAULT 0,
    "horizon" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "EventFeed_pkey" PRIMARY KEY ("appId"),
    CONSTRAINT "EventFeed_horizon_check" CHECK ("horizon" BETWEEN 0 AND "last"),
    CONSTRAINT "EventFeed_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
