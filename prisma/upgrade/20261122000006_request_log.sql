-- CreateEnum
CREATE TYPE "UsageSpan" AS ENUM ('minute', 'hour');

-- CreateTable
CREATE TABLE "RefusedRequest" (
    "id" BIGSERIAL NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "requestId" TEXT COLLATE "C" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "method" TEXT COLLATE "C" NOT NULL,
    "route" TEXT COLLATE "C",
    "status" INTEGER NOT NULL,
    "error" TEXT COLLATE "C" NOT NULL,
    "message" TEXT COLLATE "C",
    "ms" INTEGER NOT NULL,

    CONSTRAINT "RefusedRequest_pkey" PRIMARY KEY ("teamId","at","id")
);

-- CreateTable
CREATE TABLE "ClientUsage" (
    "teamId" TEXT COLLATE "C" NOT NULL,
    "span" "UsageSpan" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "ok" INTEGER NOT NULL,
    "refused" INTEGER NOT NULL,
    "limited" INTEGER NOT NULL,

    CONSTRAINT "ClientUsage_pkey" PRIMARY KEY ("teamId","span","at","clientId")
);

-- CreateIndex
CREATE INDEX "RefusedRequest_teamId_requestId_idx" ON "RefusedRequest"("teamId", "requestId");

-- CreateIndex
CREATE INDEX "RefusedRequest_at_idx" ON "RefusedRequest"("at");

-- CreateIndex
CREATE INDEX "ClientUsage_span_at_idx" ON "ClientUsage"("span", "at");

-- AddForeignKey
ALTER TABLE "RefusedRequest" ADD CONSTRAINT "RefusedRequest_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ClientUsage" ADD CONSTRAINT "ClientUsage_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
