-- Numbers events of an app that have no number yet, in the order of their times, at most `portion`; returns the app's last number. The
-- row of the feed is the lock of its numbers: they become visible in their order, so a reader who continues after one misses no
-- event, whenever it was committed. Publishers take no lock. An event that is locked, because it is being removed, has to wait for
-- the next call: this never waits for an event while it holds the feed.
CREATE OR REPLACE FUNCTION event_number(app text, portion integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  last_number bigint;
  added bigint;
BEGIN
  SELECT "last" INTO last_number FROM "EventFeed" WHERE "appId" = app FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO "EventFeed" ("appId") VALUES (app) ON CONFLICT DO NOTHING;
    SELECT "last" INTO last_number FROM "EventFeed" WHERE "appId" = app FOR NO KEY UPDATE;
  END IF;
  WITH unnumbered AS MATERIALIZED (
    SELECT id, "publishedAt" FROM "PublishedEvent" WHERE "appId" = app AND number IS NULL
    ORDER BY "publishedAt", id LIMIT portion FOR NO KEY UPDATE SKIP LOCKED
  ), numbered AS (
    UPDATE "PublishedEvent" event SET number = last_number + place
    FROM (SELECT id, row_number() OVER (ORDER BY "publishedAt", id) AS place FROM unnumbered) found
    WHERE event."appId" = app AND event.id = found.id RETURNING 1
  )
  SELECT count(*) INTO added FROM numbered;
  UPDATE "EventFeed" SET "last" = last_number + added WHERE "appId" = app AND added > 0;
  RETURN last_number + added;
END $$;
