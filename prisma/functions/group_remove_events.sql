-- An event without a calendar and without groups is for the whole club. So the last group of an event takes it along, or what
-- was for a few would be shown to all. Locked first: of two transactions that remove the last two groups, the second waits here,
-- and then finds the other group gone.
CREATE OR REPLACE FUNCTION group_remove_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Event" WHERE id IN (SELECT "eventId" FROM "EventGroup" WHERE "groupId" = OLD.id) ORDER BY id FOR UPDATE;
  DELETE FROM "Event" event USING "EventGroup" own
  WHERE own."groupId" = OLD.id AND own."eventId" = event.id AND event."calendarId" IS NULL AND NOT EXISTS (
    SELECT FROM "EventGroup" other JOIN "Group" ON "Group".id = other."groupId"
    WHERE other."eventId" = event.id AND other."groupId" <> OLD.id
  );
  RETURN OLD;
END $$;
