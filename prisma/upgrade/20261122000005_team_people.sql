-- CreateEnum
CREATE TYPE "TeamRole" AS ENUM ('owner', 'developer');

-- CreateTable
CREATE TABLE "TeamMember" (
    "teamId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "role" "TeamRole" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "TeamMember_pkey" PRIMARY KEY ("teamId","personId")
);

-- CreateTable
CREATE TABLE "TeamInvitation" (
    "id" TEXT COLLATE "C" NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "role" "TeamRole" NOT NULL,
    "invitedBy" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "acceptedAt" TIMESTAMPTZ(3),

    CONSTRAINT "TeamInvitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AuditEntry" (
    "id" BIGSERIAL NOT NULL,
    "teamId" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C",
    "action" TEXT COLLATE "C" NOT NULL,
    "target" TEXT COLLATE "C" NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "AuditEntry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "TeamMember_personId_idx" ON "TeamMember"("personId");

-- CreateIndex
CREATE INDEX "TeamInvitation_teamId_idx" ON "TeamInvitation"("teamId");

-- CreateIndex
CREATE INDEX "TeamInvitation_email_idx" ON "TeamInvitation"("email");

-- CreateIndex
CREATE INDEX "TeamInvitation_invitedBy_idx" ON "TeamInvitation"("invitedBy");

-- CreateIndex
CREATE INDEX "TeamInvitation_expiresAt_idx" ON "TeamInvitation"("expiresAt");

-- CreateIndex
CREATE INDEX "AuditEntry_teamId_id_idx" ON "AuditEntry"("teamId", "id");

-- CreateIndex
CREATE INDEX "AuditEntry_personId_idx" ON "AuditEntry"("personId");

-- CreateIndex
CREATE INDEX "AuditEntry_at_idx" ON "AuditEntry"("at");

-- AddForeignKey
ALTER TABLE "TeamMember" ADD CONSTRAINT "TeamMember_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TeamMember" ADD CONSTRAINT "TeamMember_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TeamInvitation" ADD CONSTRAINT "TeamInvitation_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AuditEntry" ADD CONSTRAINT "AuditEntry_teamId_fkey" FOREIGN KEY ("teamId") REFERENCES "Team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A team keeps an owner. The lock lets one of two owners that end each other wait, and then see that the other has ended. A person
-- who is erased, and a team that is deleted, take their rows along.
CREATE FUNCTION team_keep_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Team" WHERE id = OLD."teamId" FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM FROM "TeamMember" WHERE "teamId" = OLD."teamId" AND role = 'owner';
  IF FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM FROM "Person" WHERE id = OLD."personId";
  IF FOUND THEN
    RAISE EXCEPTION 'The team % keeps at least one owner.', OLD."teamId"
      USING ERRCODE = 'check_violation', CONSTRAINT = 'TeamMember_lastOwner_check', TABLE = 'TeamMember';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "TeamMember_keepOwner_trigger" AFTER UPDATE OR DELETE ON "TeamMember"
FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION team_keep_owner();

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Audit entries are never changed.'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'AuditEntry_unchanged_check', TABLE = 'AuditEntry';
END $$;

CREATE TRIGGER "AuditEntry_unchanged_trigger" BEFORE UPDATE ON "AuditEntry"
FOR EACH ROW EXECUTE FUNCTION audit_refuse();
