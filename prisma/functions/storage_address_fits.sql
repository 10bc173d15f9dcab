-- StorageEntry has no CHECKs for it (20261127024502_storage_entry_addresses).
CREATE OR REPLACE FUNCTION storage_address_fits(in_collection text, under_key text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT in_collection ~ '^[A-Za-z0-9_-]{1,64}$' AND under_key ~ '^[A-Za-z0-9_-]{1,64}$'
$$;
