-- CreateEnum
CREATE TYPE "DeliveryState" AS ENUM ('pending', 'delivered', 'failed');

-- AlterTable
ALTER TABLE "Client" ALTER COLUMN "teamId" DROP NOT NULL;

-- CreateTable
CREATE TABLE "Subscription" (
    "id" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "subscriber" TEXT COLLATE "C" NOT NULL,
    "url" TEXT COLLATE "C",
    "secret" TEXT COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Subscription_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "PublishedEvent" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "body" TEXT COLLATE "C" NOT NULL,
    "publishedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PublishedEvent_pkey" PRIMARY KEY ("appId","id")
);

-- CreateTable
CREATE TABLE "Delivery" (
    "id" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "eventId" TEXT COLLATE "C" NOT NULL,
    "subscriptionId" TEXT COLLATE "C" NOT NULL,
    "state" "DeliveryState" NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "lastStatus" INTEGER,
    "lastError" TEXT COLLATE "C",
    "lastAnswer" TEXT COLLATE "C",
    "nextAttemptAt" TIMESTAMPTZ(3),
    "lease" TEXT COLLATE "C",
    "leasedUntil" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "finishedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SecretsKeyCheck" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "sealed" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "SecretsKeyCheck_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Subscription_appId_id_idx" ON "Subscription"("appId", "id");

-- CreateIndex
CREATE INDEX "PublishedEvent_publishedAt_idx" ON "PublishedEvent"("publishedAt");

-- CreateIndex
CREATE INDEX "Delivery_appId_eventId_idx" ON "Delivery"("appId", "eventId");

-- CreateIndex
CREATE INDEX "Delivery_subscriptionId_id_idx" ON "Delivery"("subscriptionId", "id");

-- AddForeignKey
ALTER TABLE "Subscription" ADD CONSTRAINT "Subscription_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PublishedEvent" ADD CONSTRAINT "PublishedEvent_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_appId_eventId_fkey" FOREIGN KEY ("appId", "eventId") REFERENCES "PublishedEvent"("appId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A client of the platform itself has neither a team nor an app.
ALTER TABLE "Client" ADD CONSTRAINT "Client_first_party" CHECK ("teamId" IS NOT NULL OR "appId" IS NULL);

-- What is pending is due at some time; a lease has its end.
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_due" CHECK ((state = 'pending') = ("nextAttemptAt" IS NOT NULL));
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_lease" CHECK ((lease IS NULL) = ("leasedUntil" IS NULL));

ALTER TABLE "SecretsKeyCheck" ADD CONSTRAINT "SecretsKeyCheck_one" CHECK (id = 1);

-- What workers look for: what is due to a subscription, in the order of its time, so that what one has waiting does not
-- stand in the way of the others; and leases that have run out.
CREATE INDEX "Delivery_claimable_idx" ON "Delivery" ("subscriptionId", "nextAttemptAt") WHERE state = 'pending' AND lease IS NULL;
CREATE INDEX "Delivery_leased_idx" ON "Delivery" ("leasedUntil") WHERE lease IS NOT NULL;
