-- Whether the current version (null: no entry) meets If-Match and If-None-Match (null: not sent; '*': any version).
CREATE OR REPLACE FUNCTION storage_meets(version text, if_match text[], if_none_match text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(if_match IS NULL OR (version IS NOT NULL AND ('*' = ANY (if_match) OR version = ANY (if_match))), false)
    AND (if_none_match IS NULL OR version IS NULL OR NOT ('*' = ANY (if_none_match) OR version = ANY (if_none_match)))
$$;
