-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "Consent_basis_idx" ON "Consent" ("basis");
