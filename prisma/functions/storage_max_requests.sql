-- The most keys of a member in a store within 24 hours.
CREATE OR REPLACE FUNCTION storage_max_requests() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 10000::bigint';
