-- Nodes of the former release ignore the header, and do not write to it.
CREATE TABLE "StorageRequest" (
    "appId" TEXT COLLATE "C" NOT NULL CHECK (id_fits("appId")),
    "clubId" TEXT COLLATE "C" NOT NULL CHECK (id_fits("clubId")),
    -- '' for the app itself.
    "memberId" TEXT COLLATE "C" NOT NULL CHECK ("memberId" = '' OR id_fits("memberId")),
    "clientId" TEXT COLLATE "C" NOT NULL CHECK (id_fits("clientId")),
    "key" TEXT COLLATE "C" NOT NULL CHECK ("key" ~ '^[!-~]{1,255}$'),
    "method" TEXT COLLATE "C" NOT NULL CHECK ("method" = ANY ('{PUT,DELETE,POST}')),
    "hash" BYTEA NOT NULL CHECK (octet_length("hash") = 32),
    "outcomes" TEXT[] COLLATE "C" NOT NULL CHECK (texts_fit(VARIADIC "outcomes")),
    "versions" UUID[] NOT NULL,
    "used" BIGINT NOT NULL CHECK ("used" >= 0),
    "number" BIGINT NOT NULL CHECK ("number" > 0),
    "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt")),

    CONSTRAINT "StorageRequest_pkey" PRIMARY KEY ("clientId","clubId","memberId","key"),
    CONSTRAINT "StorageRequest_operations_check" CHECK (
      cardinality("outcomes") BETWEEN 1 AND 25 AND cardinality("versions") = cardinality("outcomes")
      AND "outcomes" <@ '{stored,deleted,absent,found,missing}' AND ("method" = 'POST' OR cardinality("outcomes") = 1))
);
CREATE UNIQUE INDEX "StorageRequest_appId_clubId_memberId_number_key" ON "StorageRequest"("appId", "clubId", "memberId", "number");
CREATE INDEX "StorageRequest_createdAt_idx" ON "StorageRequest"("createdAt");
