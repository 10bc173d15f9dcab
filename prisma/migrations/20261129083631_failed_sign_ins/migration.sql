CREATE TABLE "FailedSignIn" (
    "id" BIGSERIAL NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("clientId")),
    "requestId" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("requestId")),
    "at" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("at")),
    "method" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("method")),
    "route" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("route")),
    "status" INTEGER NOT NULL CHECK ("status" BETWEEN 400 AND 599),
    "error" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("error")),
    "message" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("message") AND char_length("message") <= 300),
    "redirectUri" TEXT COLLATE "C" CHECK ("redirectUri" IS NULL OR texts_fit("redirectUri") AND char_length("redirectUri") <= 300),
    "scopes" TEXT COLLATE "C" CHECK ("scopes" IS NULL OR texts_fit("scopes") AND char_length("scopes") <= 1000),
    "ms" INTEGER NOT NULL,

    CONSTRAINT "FailedSignIn_pkey" PRIMARY KEY ("teamId","at","id")
);
-- Above those of answered requests, as theirs are above those of refused ones.
ALTER SEQUENCE "FailedSignIn_id_seq" START WITH 200000000000000000 RESTART;
CREATE INDEX "FailedSignIn_teamId_requestId_idx" ON "FailedSignIn"("teamId", "requestId");
CREATE INDEX "FailedSignIn_at_idx" ON "FailedSignIn"("at");
CREATE INDEX "FailedSignIn_clientId_at_id_idx" ON "FailedSignIn"("clientId", "at", "id");

ALTER TABLE "FailedSignIn" ADD CONSTRAINT "FailedSignIn_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;
