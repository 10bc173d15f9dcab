-- no-transaction
DROP INDEX CONCURRENTLY IF EXISTS "Consent_clientId_idx";
