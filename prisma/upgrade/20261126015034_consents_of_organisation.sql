-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "Consent_organisationId_idx";
