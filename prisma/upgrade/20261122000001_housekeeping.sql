CREATE TABLE "Housekeeping" (
    "name" TEXT COLLATE "C" NOT NULL,
    "nextAt" TIMESTAMPTZ(3) NOT NULL,
    "leasedUntil" TIMESTAMPTZ(3),
    "finishedAt" TIMESTAMPTZ(3),
    "removed" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "Housekeeping_pkey" PRIMARY KEY ("name")
);

-- Subscriptions that have ended are removed some time later.
CREATE INDEX "Subscription_ended_idx" ON "Subscription" ("endedAt") WHERE "endedAt" IS NOT NULL;
