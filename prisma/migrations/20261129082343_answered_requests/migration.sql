CREATE TABLE "AnsweredRequest" (
    "id" BIGSERIAL NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("appId")),
    "clientId" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("clientId")),
    "requestId" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("requestId")),
    "at" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("at")),
    "method" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("method")),
    "route" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("route")),
    "status" INTEGER NOT NULL CHECK ("status" BETWEEN 100 AND 399),
    "ms" INTEGER NOT NULL,
    "member" TEXT COLLATE "C" CHECK ("member" ~ '^[0-9a-f]{32}$'),

    CONSTRAINT "AnsweredRequest_pkey" PRIMARY KEY ("teamId","at","id")
);
-- Above those of refused requests: a cursor in the list of both is a time and one of these numbers.
ALTER SEQUENCE "AnsweredRequest_id_seq" START WITH 100000000000000000 RESTART;
CREATE INDEX "AnsweredRequest_teamId_requestId_idx" ON "AnsweredRequest"("teamId", "requestId");
CREATE INDEX "AnsweredRequest_at_idx" ON "AnsweredRequest"("at");
CREATE INDEX "AnsweredRequest_appId_at_id_idx" ON "AnsweredRequest"("appId", "at", "id");
-- As for refused requests.
CREATE INDEX "AnsweredRequest_member_idx" ON "AnsweredRequest" ("member", "teamId", "at" DESC, "id" DESC) WHERE "member" IS NOT NULL;

ALTER TABLE "AnsweredRequest" ADD CONSTRAINT "AnsweredRequest_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
