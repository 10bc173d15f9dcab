-- The most entries of a store. A function, as the parameters of storage_write are those of the former release.
CREATE OR REPLACE FUNCTION storage_max_entries() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1000000::bigint';
