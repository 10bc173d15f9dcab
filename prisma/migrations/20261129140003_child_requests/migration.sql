CREATE TABLE "ChildRequest" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "childId" TEXT COLLATE "C" NOT NULL,
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "appId" TEXT COLLATE "C" NOT NULL,
    "state" "ClubApprovalState" NOT NULL,
    "scopes" TEXT[] COLLATE "C" NOT NULL CHECK (texts_fit(VARIADIC "scopes")),
    "covered" TEXT[] COLLATE "C" NOT NULL DEFAULT ARRAY[]::TEXT[] CHECK (texts_fit(VARIADIC "covered")),
    "reason" TEXT COLLATE "C" CHECK ("reason" IS NULL OR texts_fit("reason")),
    "requestedAt" TIMESTAMPTZ(3) CHECK (time_fits("requestedAt")),
    "decidedAt" TIMESTAMPTZ(3) CHECK (time_fits("decidedAt")),
    "decidedBy" TEXT COLLATE "C",
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "ChildRequest_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ChildRequest_length_check" CHECK (char_length("reason") BETWEEN 1 AND 500),
    CONSTRAINT "ChildRequest_refusal_check" CHECK ("reason" IS NULL OR "state" = 'refused'),
    CONSTRAINT "ChildRequest_request_check" CHECK ("state" <> 'requested' OR "requestedAt" IS NOT NULL AND "decidedBy" IS NULL),
    CONSTRAINT "ChildRequest_decision_check" CHECK (("state" = 'requested') = ("decidedAt" IS NULL)),
    CONSTRAINT "ChildRequest_coverage_check" CHECK (cardinality("scopes") > 0 AND "covered" <@ "scopes"
      AND CASE "state" WHEN 'requested' THEN true WHEN 'approved' THEN "covered" @> "scopes" ELSE cardinality("covered") = 0 END)
);
CREATE INDEX "ChildRequest_organisationId_state_idx" ON "ChildRequest"("organisationId", "state");
CREATE INDEX "ChildRequest_appId_idx" ON "ChildRequest"("appId");
CREATE INDEX "ChildRequest_decidedBy_idx" ON "ChildRequest"("decidedBy");
CREATE UNIQUE INDEX "ChildRequest_childId_organisationId_appId_key" ON "ChildRequest"("childId", "organisationId", "appId");
ALTER TABLE "ChildRequest" ADD CONSTRAINT "ChildRequest_childId_fkey" FOREIGN KEY ("childId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ChildRequest" ADD CONSTRAINT "ChildRequest_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ChildRequest" ADD CONSTRAINT "ChildRequest_appId_fkey" FOREIGN KEY ("appId") REFERENCES "App"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ChildRequest" ADD CONSTRAINT "ChildRequest_decidedBy_fkey" FOREIGN KEY ("decidedBy") REFERENCES "Person"("id") ON DELETE SET NULL ON UPDATE CASCADE;
