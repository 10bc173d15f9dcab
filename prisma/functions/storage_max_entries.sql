-- The most entries of a store.
CREATE OR REPLACE FUNCTION storage_max_entries() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1000000::bigint';
