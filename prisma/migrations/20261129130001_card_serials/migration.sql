-- no-transaction
-- The code of a card names a long serial by its hash. Backslashes are doubled, as bytea's text form reads them as escapes.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "MemberCard_serialHash_idx" ON "MemberCard" (substr(sha256(replace("serial", '\', '\\')::bytea), 1, 16));
