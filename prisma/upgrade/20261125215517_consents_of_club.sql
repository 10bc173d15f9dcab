-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_clientId_organisationId_idx" ON "Consent"("clientId", "organisationId");
