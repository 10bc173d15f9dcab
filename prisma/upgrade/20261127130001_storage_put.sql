-- Nodes of fc5e3fa5 called it.
DROP FUNCTION IF EXISTS storage_put(text, text, text, text, text, text, uuid, timestamptz, bigint, text[], text[]);
DO $$
BEGIN
  IF to_regclass('"_functions"') IS NOT NULL THEN
    DELETE FROM "_functions" WHERE name IN ('functions/storage_put.sql', 'functions/storage_write_ruled.sql',
      'functions/storage_delete_ruled.sql', 'functions/storage_batch_ruled.sql', 'functions/storage_tally.sql');
  END IF;
END $$;
