-- A store that exists begins with the time of the migration.
ALTER TABLE "StorageUsage"
  ADD COLUMN "changes" BIGINT NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint,
  ADD COLUMN "horizon" BIGINT NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint,
  ADD COLUMN "thinned" BIGINT NOT NULL DEFAULT 0,
  ADD CONSTRAINT "StorageUsage_horizon_check" CHECK ("horizon" <= "changes");

-- Without CHECKs: triggers write what "StorageEntry" has checked.
CREATE TABLE "StorageChange" (
    "appId" TEXT COLLATE "C" NOT NULL,
    "clubId" TEXT COLLATE "C" NOT NULL,
    "owner" TEXT COLLATE "C" NOT NULL,
    "collection" TEXT COLLATE "C" NOT NULL,
    "number" BIGINT NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "version" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StorageChange_pkey" PRIMARY KEY ("appId","clubId","owner","collection","number")
);
-- Rows come in the order of time: some bytes for 128 pages of them.
CREATE INDEX "StorageChange_at_idx" ON "StorageChange" USING BRIN ("at");
