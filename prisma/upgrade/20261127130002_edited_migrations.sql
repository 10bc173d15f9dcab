-- For databases with a migration as it was before it was edited (prisma/edited-migrations.ts). Changes nothing in others.
DO $$
BEGIN
  -- 20261122000000
  IF NOT EXISTS (
    SELECT FROM pg_db_role_setting JOIN pg_database own ON own.oid = setdatabase, unnest(setconfig) setting
    WHERE datname = current_database() AND setting LIKE 'jit=%')
  THEN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'Set jit = off for the role or the database.';
END $$;

DO $$
DECLARE
  own record;
BEGIN
  -- 20261122000002; deploy/citus.sql makes the same keys for distributed tables.
  IF to_regclass('pg_dist_partition') IS NULL THEN
    FOR own IN
      SELECT conrelid::regclass AS "table", conname AS name, replace(pg_get_constraintdef(oid), ' ON DELETE', ' ON UPDATE CASCADE ON DELETE') AS definition
      FROM pg_constraint WHERE conrelid IN ('"StorageUsage"'::regclass, '"StorageEntry"'::regclass) AND contype = 'f' AND confupdtype = 'a'
      ORDER BY oid
    LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I %s', own."table", own.name, own.definition);
    END LOOP;
  END IF;

  -- 20261126003232
  FOR own IN
    SELECT former, later FROM (VALUES
      ('ClubApproval_reason_length', 'ClubApproval_length_check'), ('ClubApproval_reason_state', 'ClubApproval_refusal_check'),
      ('ClubApproval_requested', 'ClubApproval_request_check'), ('ClubApproval_decided', 'ClubApproval_decision_check')
    ) renamed (former, later) JOIN pg_constraint ON conname = former AND conrelid = '"ClubApproval"'::regclass
  LOOP
    EXECUTE format('ALTER TABLE "ClubApproval" RENAME CONSTRAINT %I TO %I', own.former, own.later);
  END LOOP;

  -- 20261127120557: the rows are keys of 24 hours.
  IF to_regclass('"StorageRequest_appId_clubId_memberId_createdAt_idx"') IS NOT NULL THEN
    TRUNCATE "StorageRequest";
    ALTER TABLE "StorageRequest" DROP COLUMN "createdAt",
      ADD COLUMN "number" BIGINT NOT NULL CHECK ("number" > 0),
      ADD COLUMN "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt"));
    CREATE UNIQUE INDEX "StorageRequest_appId_clubId_memberId_number_key" ON "StorageRequest"("appId", "clubId", "memberId", "number");
    CREATE INDEX "StorageRequest_createdAt_idx" ON "StorageRequest"("createdAt");
  END IF;
END $$;
