-- What nodes of 6ea6af0f call beside those of 0.1.0. With the release after 0.1.0 this file goes, and a migration drops these
-- functions, their row in "_functions", and the rows of "_prisma_migrations" before 20261128000000_init.

CREATE OR REPLACE FUNCTION storage_write(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[], writer text
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_write(
    app, club, owned_by, in_collection, under_key, new_value, new_version, written_at, quota, if_match, if_none_match, writer, false);
END $$;

CREATE OR REPLACE FUNCTION storage_write_ruled(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[], writer text
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_write(
    app, club, owned_by, in_collection, under_key, new_value, new_version, written_at, quota, if_match, if_none_match, writer, true);
END $$;

CREATE OR REPLACE FUNCTION storage_delete(
  app text, club text, owned_by text, in_collection text, under_key text, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_delete(app, club, owned_by, in_collection, under_key, if_match, if_none_match, NULL);
END $$;

CREATE OR REPLACE FUNCTION storage_delete_ruled(
  app text, club text, owned_by text, in_collection text, under_key text, if_match text[], if_none_match text[], member text
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_delete(app, club, owned_by, in_collection, under_key, if_match, if_none_match, member);
END $$;

CREATE OR REPLACE FUNCTION storage_batch(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], written_at timestamptz, quota bigint, most_read bigint
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_batch(
    app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, written_at, quota, most_read, false);
END $$;

CREATE OR REPLACE FUNCTION storage_batch_ruled(
  app text, club text, member text, ops text[], owners text[], collections text[], keys text[], new_values text[],
  if_match text[], if_none_match text[], written_at timestamptz, quota bigint, most_read bigint
) RETURNS TABLE (outcome text, found_value text, found_version uuid, found_at bigint, used bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM storage_batch(
    app, club, member, ops, owners, collections, keys, new_values, if_match, if_none_match, written_at, quota, most_read, true);
END $$;
