-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_organisationId_clientId_idx" ON "Consent"("organisationId", "clientId");
